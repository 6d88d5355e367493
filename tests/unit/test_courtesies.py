"""What claims nothing is told from what only begins like it."""

import pytest

from citeloop.verification.answer_text.courtesies import says_nothing


@pytest.mark.parametrize(
    "sentence",
    """Let me know-how licences expire after 5 years.
In addition, the fee is 20 EUR.
The answer depends on the region: 5 in the EU.
I hope clauses are void in Germany.
Here is the summary deadline: 31 March.
Here is what the fee covers: travel and meals.
Below is the list price of 20 euros.
The following is the list of members: Anna and Ben.
If you need leave, ask the team lead.
If you want a refund, return the goods.
Let us look at the fee, which is twenty euros.
Thanks to the union leave is longer.
I am not sure that Anna left.
I cannot say more than that the fee is due.
As an AI company, OpenAI sells models.
There are three factors to consider.
This summary describes the merger of A and B.
Please note that these may change on 1 May.
Keep in mind that it can differ in France.
Feel free to park in the yard.
Hier ist die Liste der Preise: 20 Euro.
Bei Fragen hilft Frau Schmidt.
Voici la réponse : vingt euros.
Espero que sepa que la tarifa es de veinte euros.
以下是答案：二十欧元
希望对公司忠诚的员工有年假。
以下の手順で申請します。
Leave is long, isn't it?
Is it so? Leave is long. Right?
No parking.
Yes, leave is long.""".splitlines(),
)
def test_sentences_that_say_something(sentence: str) -> None:
    assert not says_nothing(sentence)


@pytest.mark.parametrize(
    "sentence",
    """In summary,
Here is a summary of the policy.
Based on the documents, here is the answer.
Let me know if you have any questions.
If you need more information, let me know.
If you have any further questions, feel free to ask.
Let's break it down.
Great question!
Thank you for your question.
I'm not sure.
As an AI, I cannot give legal advice.
It depends.
Please note that this may change.
Would you like to know more?
Ich hoffe, das hilft.
Hier ist eine Zusammenfassung.
Voici un résumé.
N'hésitez pas à demander.
Espero que esto ayude.
以下是答案：
希望这对您有帮助。
以下にまとめます。
آمل أن يساعدك هذا.
मुझे आशा है कि इससे मदद मिलेगी।
หวังว่าจะช่วยได้""".splitlines(),
)
def test_sentences_that_say_nothing(sentence: str) -> None:
    assert says_nothing(sentence)
