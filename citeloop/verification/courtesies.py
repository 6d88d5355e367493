"""Sentences that connect, introduce or are polite, and assert nothing: by their first words, in several languages."""

import re

_PRODUCT = (
    r"(?:summary|overview|answer|response|steps|list|breakdown|explanation|key (?:points|facts)|what (?:i|we|the)\b)"
)
_LABEL = r"(?:summary|answer|overview|conclusion|details|background|introduction|key points|sources|references)"
_ENGLISH = (
    r"(?:yes|no|sure|certainly|absolutely|of course|in (?:summary|short|brief|conclusion|other words|addition)"
    rf"|to (?:summari[sz]e|sum up|conclude)|overall|finally|first(?:ly)?|second(?:ly)?|also|however|{_LABEL})\W*\Z",
    rf"(?:(?:based on|according to|from) [^,.]{{1,80}}, )?(?:here(?:'s|’s| is| are)|below (?:is|are)"
    rf"|the following (?:is|are))\b(?=.*{_PRODUCT})",
    r"(?:i hope|let me know|feel free|please let me|if you (?:need|want|have|would like))\b",
    r"(?:now,? )?let(?:'s|’s| us| me) (?:explain|look|break|walk|start|begin|turn|move|summari[sz]e|take|see"
    r"|clarify)\b",
    r"(?:that(?:'s|’s| is) an? )?(?:great|good|excellent|interesting) question\W*\Z",
    r"(?:thank you|thanks)\b[^,;:]{0,60}\Z",
    r"(?:unfortunately, )?i(?:'m|’m| am)(?: not|n't) (?:sure|certain|able|aware)\b",
    r"(?:unfortunately, )?i (?:do not|don't|don’t|can ?not|can't|can’t) (?:know|say|tell|give|provide|offer)\b",
    r"as an? (?:ai|assistant|language model)\b",
    r"there are (?:several|a few|some|many|two|three|four|five) (?:\w+ ){0,2}(?:points|things|aspects|factors)"
    r" to (?:consider|note|keep in mind|mention)\W*\Z",
    rf"(?:the rest of )?(?:this|my) {_LABEL} (?:covers|is about|summari[sz]es|describes|explains|lists)\b",
    r"(?:it|that|this|the answer) depends\W*\Z",
    r"(?:please )?(?:note|keep in mind|be aware) that (?:this|it|these|they|the above) (?:may|might|can|could)"
    r" (?:vary|change|differ|depend|be (?:incomplete|outdated))\b",
)
_OTHERS = (
    r"(?:zusammenfassend|kurz gesagt|insgesamt|gern(?:e)?|natürlich|ja|nein)\W*\Z",
    r"(?:hier|im folgenden) (?:ist|sind|finden|folgt)\b(?=.*(?:zusammenfassung|übersicht|antwort|schritte|liste))",
    r"(?:ich hoffe|lassen sie (?:es )?mich wissen|bei (?:weiteren )?fragen)\b",
    r"(?:en résumé|en bref|bien sûr|oui|non)\W*\Z",
    r"(?:voici|voilà)\b(?=.*(?:résumé|réponse|étapes|liste|aperçu|points))|(?:j['’]espère|n['’]hésitez pas)\b",
    r"(?:en resumen|por supuesto|claro|sí)\W*\Z",
    r"(?:aquí|a continuación)\b(?=.*(?:resumen|respuesta|pasos|lista|puntos))|(?:espero que|no dude en)\b",
    r"(?:总之|總之|综上(?:所述)?|好的|当然(?:可以)?|是的|简而言之)\W*\Z",
    r"(?:以下|下面)(?:是|为)[^，,;；]{0,20}(?:答案|回答|总结|總結|摘要|步骤|步驟|概述|列表|要点)\W*\Z|希望(?:这|這|以上|对|對)",
    r"(?:以上です|まとめると|要約すると|はい|いいえ)\W*\Z",
    r"以下(?:に|は|が|の)[^、]{0,20}(?:まとめ|要約|回答|手順|一覧|示し|説明し)|(?:お役に立て|ご不明な点)",
    r"(?:باختصار|نعم|لا|بالطبع)\W*\Z|فيما يلي[^،]{0,30}(?:ملخص|الإجابة|الخطوات|قائمة)|آمل أن",
    r"(?:संक्षेप में|हाँ|नहीं|ज़रूर)\W*\Z|यहाँ [^,]{0,30}(?:सारांश|उत्तर|सूची|चरण)|(?:मुझे )?(?:आशा|उम्मीद) है",
    r"(?:โดยสรุป|สรุป|ใช่|ไม่)\W*\Z|ต่อไปนี้(?:คือ|เป็น)[^,]{0,30}(?:สรุป|คำตอบ|ขั้นตอน|รายการ)|หวังว่า",
)
_COURTESY = re.compile("|".join((*_ENGLISH, *_OTHERS)), re.IGNORECASE)
_OPENING = re.compile(r"[\W_]*+")
_QUESTION = re.compile(r"[?？؟][\"'”’»」』)*_\s]*\Z|(?:です|ます|でしょう)か[。」]?\Z")
_LONGEST = 300


def says_nothing(sentence: str) -> bool:
    """Whether ``sentence``, which cites nothing, asks or is a courtesy. In doubt it is a claim: what is taken for none
    is checked by nobody."""
    if _QUESTION.search(sentence[-40:]):
        return True
    opening = _OPENING.match(sentence)
    start = opening.end() if opening else 0
    return len(sentence) <= _LONGEST and _COURTESY.match(sentence, start) is not None
