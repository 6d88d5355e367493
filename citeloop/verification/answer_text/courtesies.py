"""Sentences that connect, introduce or are polite, and assert nothing: known by all of their words, not by the first.

In doubt a sentence is a claim: what is taken for none is checked by nobody.
"""

import re

_PRODUCT = (
    r"(?:summary|overview|answer|response|steps|list|breakdown|explanation|key (?:points|facts)|what (?:i|we) found)"
)
_LABEL = r"(?:summary|answer|overview|conclusion|details|background|introduction|key points|sources|references)"
_WHOLE = (
    r"(?:yes|no|sure|certainly|absolutely|of course|in (?:summary|short|brief|conclusion|other words|addition)"
    rf"|to (?:summari[sz]e|sum up|conclude)|overall|finally|first(?:ly)?|second(?:ly)?|also|however|{_LABEL}"
    r"|zusammenfassend|kurz gesagt|insgesamt|gern(?:e)?|natürlich|ja|nein|en résumé|en bref|bien sûr|oui|non|en resumen"
    r"|por supuesto|claro|sí|总之|總之|综上(?:所述)?|好的|当然(?:可以)?|是的|简而言之"
    r"|以上です|まとめると|要約すると|はい|いいえ|باختصار|نعم|لا|بالطبع|संक्षेप में|हाँ|नहीं|ज़रूर|โดยสรุป|สรุป|ใช่|ไม่)",
    rf"(?:(?:based on|according to|from) the \w+, )?"
    r"(?:here(?:'s|’s| is| are)|below (?:is|are)|the following (?:is|are))"
    rf" (?:(?:a|an|the|my|your|brief|short|quick|full) )*{_PRODUCT}(?: (?:of|to|for|from|about|on) [^,;:.]{{1,80}})?",
    r"(?:hier|im folgenden) (?:ist|sind|finden|folgt)(?: (?:sie|eine?|die|der|das|kurze))*"
    r" (?:zusammenfassung|übersicht|antwort|schritte|liste)",
    r"(?:ich hoffe,? (?:das|dies|es) (?:hilft|war hilfreich)"
    r"|(?:bei (?:weiteren )?fragen|lassen sie (?:es )?mich wissen)"
    r"(?:,? (?:wenn|ihnen|falls|sie|sich|melden|fragen|gern(?:e)?|weitere|haben|bitte|jederzeit))*)",
    r"(?:voici|voilà)(?: \w+){0,2} (?:résumé|réponse|étapes|liste|aperçu|points)",
    r"(?:j['’]espère que (?:cela|ça)|n['’]hésitez pas)(?: (?:vous|à|aide|aidera|demander|poser|des|vos|questions|me))*",
    r"(?:aquí|a continuación)(?: \w+){0,2} (?:resumen|respuesta|pasos|lista|puntos)",
    r"(?:espero que|no dude en)(?: (?:esto|te|le|les|ayude|sea|útil|preguntar|preguntarme|más))+",
    r"(?:以下|下面)(?:是|为)[^，,;；：:]{0,20}(?:答案|回答|总结|總結|摘要|步骤|步驟|概述|列表|要点)",
    r"希望(?:这|這|以上|对|對)[^，,;；：:]{0,8}(?:帮助|幫助)",
    r"以下(?:に|は|が|の)[^、：:]{0,20}(?:まとめ|要約|回答|手順|一覧|示し|説明し)(?:ます|ました|です)?"
    r"|お役に立て\w{0,8}|ご不明な点\w{0,20}",
    r"فيما يلي(?: \w+){0,2} (?:ملخص|الإجابة|الخطوات|قائمة)|آمل أن (?:يساعدك|يفيدك|يكون)(?: (?:هذا|مفيد[اً]*))?",
    r"यहाँ (?:एक |इसका )?(?:सारांश|उत्तर|सूची|चरण)(?: है| हैं)?"
    r"|(?:मुझे )?(?:आशा|उम्मीद) है(?: (?:कि|इससे|यह|मदद|मिलेगी|उपयोगी|होगा))*",
    r"ต่อไปนี้(?:คือ|เป็น)(?:บท)?(?:สรุป|คำตอบ|ขั้นตอน|รายการ)|หวังว่า(?:จะ|ข้อมูลนี้|นี้)*(?:ช่วยได้|เป็นประโยชน์)",
)
_OPENINGS = (
    r"i hope|let me know|(?:please )?feel free|please let me|if you (?:need|want|have|would like)"
    r"|(?:now,? )?let(?:['’]s| us| me)|(?:that(?:['’]s| is) an? )?(?:great|good|excellent|interesting) question"
    r"|thank you|thanks|(?:unfortunately, )?i(?:['’]m| am)(?: not|n['’]t) (?:sure|certain|able|aware)"
    r"|(?:unfortunately, )?i (?:do not|don['’]t|can ?not|can['’]t) (?:know|say|tell|give|provide|offer)"
    r"|as an? (?:ai|assistant|language model)|(?:it|that|this|the answer) depends"
    r"|there are (?:several|some|many|a few) (?:points|things|aspects|factors)"
    r" to (?:consider|note|keep in mind|mention)"
    r"|(?:please )?(?:note|keep in mind|be aware) that (?:this|it|these|they|the above)"
    rf"|(?:the rest of )?(?:this|my) {_LABEL} (?:covers|is about|summari[sz]es|describes|explains|lists)"
)
_FURTHER_WORDS = (
    "a about above advice ai all am an and any anything are as ask asking assist assistance assistant at "
    "background be begin below break by can can't cannot change clarification clarify closer could definitive "
    "depend details differ do does don't down else example examples explain explanation feel financial for free "
    "from further give have hear help helpful helps here i if in incomplete information into is it key know "
    "language later legal let look make matter may me medical might model more move my need not of on one or "
    "other outdated overview part please point points provide question questions rest see show so something soon "
    "start steps summarise summarize summary take tell that the there these they things this through time to "
    "topic turn understand us useful vary walk want was we what will with would you your"
).split()
"""All that may follow an opening: with any other word the sentence may say something."""
_FURTHER = rf"(?:\W+(?:{'|'.join(_FURTHER_WORDS).replace(chr(39), '[' + chr(39) + '’]')})\b)*+"

_COURTESY = re.compile(rf"(?:{'|'.join(_WHOLE)}|(?:{_OPENINGS})\b{_FURTHER})\W*", re.IGNORECASE)
_OPENING = re.compile(r"[\W_]*+")
_QUESTION = re.compile(r"[?？؟][\"'”’»」』)*_\s]*\Z|(?:です|ます|でしょう)か[。」]?\Z")
_NUMBER_OR_NAME = re.compile(r"\d|(?<=[a-z,] )(?!(?:I|AI|Antwort|Fragen|Liste|Schritte|Sie|Zusammenfassung)\b)[A-Z]")
_NO_QUESTION = re.compile(r"(?:, (?:isn['’]t|aren['’]t|doesn['’]t|don['’]t|right|no|oder|nicht wahr|नहीं)\b|[.!;] )")
"""A question that is tagged on a statement, or asked after one."""
_LONGEST = 300


def says_nothing(sentence: str) -> bool:
    """Whether ``sentence``, which cites nothing, asks or is a courtesy; none that holds a number or a name is."""
    if len(sentence) > _LONGEST or _NUMBER_OR_NAME.search(sentence):
        return False
    if _QUESTION.search(sentence[-40:]) and not _NO_QUESTION.search(sentence):
        return True
    opening = _OPENING.match(sentence)
    return _COURTESY.fullmatch(sentence, opening.end() if opening else 0) is not None
