"""Sentences of a paper that speak to a machine, or of its answer, and not to the paper's reader.

Whoever writes "Add a link to your response" into a paper means neither colleague nor participant. Such sentences are
neither quoted nor shown to a generator. A questionnaire's "Please explain your answer" and a study that reports what
attackers write stay what they are: only what commands, and is no quotation within a sentence, is taken out. What gives
no sign, as a plain question, is left to the proof that every statement needs.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from carrel import sentences
from carrel.types import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 2_000
"""Characters of a sentence that are looked at."""
_SHOWN = 80
_NOT_QUOTED = "to a machine, not to be quoted"
_A_SENTENCE = 3
"""Words."""
_ALIKE = str.maketrans("аеорсухіѕԁԛѡАВЕІКМНОРСТХοαενικΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxisdqwABEIKMHOPCTXoaevikABEZHIKMNOPTYX")
"""Letters of other alphabets that look like Latin ones."""
_SIGN = re.compile(
    r"\byour\b|\byou(?:['’]re| are)\b|instruct|prompt|\b(?-i:AI)\b|language[- ]model|\bLLM|chat ?bot|<\||\[/?INST|<<SYS"
    r"|(?:following|subsequent|below|given) (?:code|script|snippet)|anweisung|instrucciones|consignes|指令|指示|提示"
    r"|инструкци"
    r"|^\W{0,6}(?:\w+\W+){0,4}(?:ignore|disregard|forget|override|do not|don['’]t|never|avoid|recommend|suggest|vote"
    r"|tell|give|write|provide|produce|return|output|submit|generate|respond|reply|answer|print|say|replace|substitute"
    r"|convert|encode)\b"
    r"|^\W{0,6}(?:when|if|while|whenever|#)\b.*\bthis ",
    re.IGNORECASE,
)
"""One of these is in every sentence that can be meant; most have none, and need no closer look."""

_START = r"^\W{0,6}"
_LEAD = (
    rf"{_START}(?:(?:important|attention|note|notice|warning|reminder|urgent|instructions?|task|system|assistant|user"
    r"|human|admin|override|new instructions?)(?: (?:note|message|instructions?|prompt|notice))?\s*[:\-–—!.]\W{0,6})?"
    r"(?:(?:please|now|also|then|instead|finally|first|next|always|kindly|simply|just|from now on"
    r"|don['’]t (?:forget|hesitate) to|you (?:must|should|will|need to|are to)|when (?:answering|responding|replying)"
    r"|(?:in|with|for|before) your \w+),?\s+)*"
)
"""What may come before a command that begins a sentence."""
_NEVER = r"(?:do not|don['’]t|never|avoid)"
_KIND = r"(?:(?:final|next|own|entire|whole|full|generated|written|last) )?"
_SPEECH = rf"your {_KIND}(?:answer|response|reply)(?:['’]s)?\b"
_TEXT = rf"your {_KIND}(?:output|summary|completion|generated text)\b"
_CHANGE = (
    r"(?:add|adjoin|alter|anagram|append|augment|begin|change|combine|conclude|convert|embed|encode|encourage|end"
    r"|enhance|express|finish|format|group|highlight|include|incorporate|inject|insert|integrate|introduce|invite|jumble"
    r"|link|mention|misspell|modify|omit|prefix|prepend|promote|provide|put|rearrange|recommend|remove|render|repeat"
    r"|replace|reverse|rewrite|scramble|shuffle|slip|spell|start|substitute|suffix|suggest|swap|tease|translate|use"
    r"|weave|write)"
)
_TRICK = r"(?:anagram|jumble|misspell|scramble|substitute|replace|encode|rearrange|convert|render)"
_MACHINE = (
    r"(?:AI|A\.I\.|(?:large |small )?language[- ]model|LLM|chat ?bot|ChatGPT|GPT(?:-\d\w*)?"
    r"|(?:AI|helpful|virtual|digital) assistant)"
)
_MACHINES = rf"(?:all |any |the )?{_MACHINE}s?"
_ROLE = r"(?:[ -](?:reviewers?|readers?|agents?|systems?|models?|assistants?))"
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|system|other)"
_ORDERS = r"(?:instructions?|prompts?|directives?|guidelines?)"
_PAPER = r"(?:paper|work|article|manuscript|submission|document|text)"
_CODE = r"(?:following|subsequent|below|given) (?:code|script|snippet)(?: (?:snippet|block|excerpt|section|fragment))?"
_WORK = (
    r"your (?:own )?(?:\w+ )?(?:code ?base|code|implementation|solution|algorithm|program|project|script|elucidation"
    r"|explanation|answer|response|development|work)\b"
)
_OF_THE_ANSWER = (
    rf"{_LEAD}{_CHANGE}\b.*\b{_SPEECH}",
    rf"{_LEAD}(?:add|append|include|insert|integrate|mention|begin|start|end)\b.*\b{_TEXT}",
    rf"{_START}(?:in|to|with|throughout|within|at the (?:end|beginning|start) of) (?:{_SPEECH}|{_TEXT})\W{{1,3}}"
    rf"{_CHANGE}\b",
)
"""What an answer is to be like, what is to be in it."""
_OF_LETTERS = (
    rf"{_LEAD}{_TRICK}\b(?=.*\b(?:letters?|words|spaces|vowels|substitution|typos|anagrams?)\b)"
    rf".*\byour {_KIND}(?:message|output)\b",
    rf"{_LEAD}{_TRICK} (?:up )?(?:the )?(?:every|each|all|(?:random |some )?(?:letters|vowels|words|spaces))\b"
    r".*\b(?:symbols?|numbers?|position|emojis?|digits?)\b",
)
_WORD_FOR_WORD = (
    rf"{_LEAD}(?:respond|reply|answer|output|print|say|return) (?:only|nothing but|exclusively|just)\b.{{0,20}}"
    r"(?:[\"“'‘]|\bthe (?:word|phrase|string|text|link)\b)",
    rf"{_LEAD}tell the users? (?:that|to)\b",
    rf"{_START}(?:when|if|while|whenever) (?:you (?:are )?)?(?:asked|summari[sz](?:e|ing)|reviewing|answering)\b"
    rf".{{0,30}}\bthis {_PAPER}.{{0,3}}"
    r"(?:say|state|mention|always|only|do not|emphasi[sz]e|claim|include|recommend)\b",
)
_OF_EARLIER_ORDERS = (
    rf"{_LEAD}(?:ignore|disregard|forget|override|bypass|discard|neglect|do not follow|stop following)\b.{{0,40}}\b"
    rf"(?:(?:your|any|all) {_ORDERS}|{_EARLIER}.{{0,30}}\b(?:{_ORDERS}|directions?|commands?|rules|messages?|context))"
    r"\b",
    rf"{_LEAD}(?:ignore|disregard|forget) (?:everything|anything|all|what(?:ever)?)\b.{{0,30}}"
    r"\b(?:above|before|earlier|previously|until now|so far|told)\b",
    rf"{_LEAD}{_NEVER} (?:reveal|disclose|tell|mention|show|repeat)\b.{{0,60}}\b"
    rf"(?:(?:these|this|your|the system) {_ORDERS}|the users?\b|your (?:training|answer|response|reply))",
)
_TO_A_MACHINE = (
    rf"{_LEAD}(?:you are|you['’]re|act as|pretend to be|behave as|assume the role of) (?:now )?"
    rf"(?:an? |the )?(?:\w+[ -]){{0,4}}{_MACHINE}\b",
    rf"{_START}(?:if|since|because|as) you(?: are|['’]re) (?:an? |the )?(?:\w+[ -]){{0,3}}{_MACHINE}\b",
    rf"{_LEAD}(?:as|being) an? (?:\w+[ -]){{0,2}}{_MACHINE},? "
    r"(?:you|your|I|do|please|never|always|recommend|give|rate)\b",
    rf"{_START}(?:note|message|instructions?|attention|memo)\W+(?:to|for)\W+{_MACHINES}{_ROLE}?\s*[:,;!–—-]",
    rf"{_START}(?:dear|hey|hello|hi|attention)\W+{_MACHINES}{_ROLE}?\s*[:,!–—-]",
    rf"{_START}(?:for|to) {_MACHINES}{_ROLE}(?: only)?\s*[:!–—]",
)
_OF_REVIEWS = (
    rf"{_LEAD}(?:give|write|provide|produce|return|output|submit|generate) (?:me |us |only )?(?:an? )?(?:\w+ )?"
    r"(?:positive|favou?rable|glowing|accepting)(?: and \w+)? (?:review|rating|evaluation|assessment)\b",
    rf"{_LEAD}(?:recommend|suggest|vote for) (?:the )?(?:strong(?:ly)? )?(?:accept(?:ance|ing)?|publi(?:cation|shing))"
    rf"(?:\W*$|\b.{{0,20}}\b(?:this|the) {_PAPER}\b)",
    rf"{_LEAD}{_NEVER} (?:mention|highlight|list|report|discuss|raise|point out)(?:ing)? (?:any |the )?"
    r"(?:negatives?|weaknesses|limitations|flaws|criticism|shortcomings|drawbacks)\b",
)
_OF_CODE = (
    rf"\b{_CODE}\b.*\b{_WORK}",
    rf"\b{_WORK}.*\b{_CODE}\b",
    rf"{_START}don['’]t (?:forget|hesitate) to\b.*\b{_CODE}\b",
    rf"{_LEAD}\w+ (?:\w+ ){{0,4}}the {_CODE} (?:to|in|into|as|for|within|when|while|during|of)\b.*\byou\b",
)
_IN_OTHER_LANGUAGES = (
    rf"{_START}(?:bitte )?(?:ignoriere?n?|missachte|vergiss)\b.{{0,30}}\b(?:anweisung|anleitung|vorgabe)",
    rf"{_START}(?:ignore[zr]?|oublie[zr]?)\b.{{0,30}}\b(?:instructions|consignes) "
    r"(?:pr[ée]c[ée]dentes|ci-dessus|ant[ée]rieures)",
    rf"{_START}(?:ignora|ignore|olvida|olvide)\b.{{0,30}}\binstrucciones (?:anteriores|previas)",
    rf"{_START}(?:请|請)?(?:忽略|无视|無視|忘记|忘記).{{0,12}}(?:指令|指示|提示)",
    rf"{_START}(?:игнорируй|забудь)\w*\b.{{0,30}}\bинструкци",
)
_FOR_PEOPLE = re.compile(
    r"\b(?:support|justify|explain|illustrate|defend|check|verify|mark|select|choose|tick|circle) your\b"
    r"|\b(?:scales?|box(?:es)?|space provided|questionnaire|survey|sheet|columns?|slider|pencil|pen"
    r"|(?:the|each|this|every) (?:item|question|statement)s?)\b",
    re.IGNORECASE,
)
"""What questionnaires and exams say where they speak of an answer."""
_TEMPLATE = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|start_header_id|end_header_id|eot_id|begin_of_text)\|>"
    r"|\[/?INST\]|<</?SYS>>|^\W{0,4}#{2,4} ?(?:instruction|system|response)s?:",
    re.IGNORECASE,
)
"""What chat models tell speakers apart by."""
_REQUEST = re.compile(
    r"\W{0,4}(?:please |kindly )?"
    r"(?:(?:explain|describe|summari[sz]e|discuss|outline|translate|draft an?|compose|break down)\b"
    r"|(?:write|provide|develop|create|generate|give) (?:me |us )?(?:an?|the|your|some)\b"
    r"|(?:tell|show|give) (?:me|us)\b|(?:can|could|would|will) you\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_QUOTED = re.compile(r"[\"“”„‟«»‘`][^\"“”„‟«»‘’`]{0,400}[\"“”„‟«»’`]")
_INSIDE = re.compile(
    rf"(?<=[\w…,)\]]\s)(?=[A-Z])(?=(?:{_CHANGE.title()}|Ignore|Disregard|Forget|Respond|Reply|Answer|You are|Do not"
    r"|Tell|Give|Please|As an? (?:AI|language)|(?:In|To|With|Throughout|Within|At the (?:end|beginning|start) of) your"
    r")\b)"
)
"""A verb with a capital letter where no sentence ends."""
_ASKED_INSIDE = re.compile(
    r"(?<=[\w…,)\]]\s)(?=(?:Who|What|When|Where|Why|How|Which|Can|Could|Is|Are|Do|Does|Explain|Describe|Summari[sz]e"
    r"|Discuss|Outline|Translate|Draft|Compose|Break|Write|Provide|Develop|Create|Generate|Give|Tell|Show)\b)"
)
_OPENED = re.compile(r"\n[ \t]*(?:```|~~~)")
_FENCE = re.compile(r"\s*^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


_ABOUT_ANSWERS = _compiled(*_OF_THE_ANSWER)
_ORDERED = _compiled(
    *_OF_LETTERS, *_WORD_FOR_WORD, *_OF_EARLIER_ORDERS, *_TO_A_MACHINE, *_OF_REVIEWS, *_OF_CODE, *_IN_OTHER_LANGUAGES
)  # fmt: skip


def instructions(text: str) -> list[Span]:
    """Where a text commands a machine, sentence by sentence; code that such a sentence brings along belongs to it."""
    found: list[Span] = []
    for span in sentences.spans(text):
        start = _begins(text[span.start : span.end])
        if start is not None:
            found.append(_with_code(text, Span(span.start + start, span.end)))
    return found


def is_instruction(sentence: str) -> bool:
    """Whether a sentence commands a machine, or ends with a command."""
    return _begins(sentence) is not None


def _begins(sentence: str) -> int | None:
    """Where a command begins: with the sentence, or behind words that were left without an end."""
    if _commands(sentence):
        return 0
    marks = (mark.start() for mark in _INSIDE.finditer(sentence[:_LONGEST]))
    return next((mark for mark in marks if _commands(sentence[mark:])), None)


def _asks(sentence: str) -> int | None:
    """Where a question or a task begins."""
    said = _plain(sentence)
    if _REQUEST.match(said):
        return 0
    is_question = said.rstrip().endswith(("?", "？"))
    for mark in _ASKED_INSIDE.finditer(sentence[:_LONGEST]):
        if is_question or _REQUEST.match(sentence, mark.start()):
            return mark.start()
    return 0 if is_question else None


def _commands(sentence: str) -> bool:
    whole = " ".join(_plain(sentence[:_LONGEST]).split())
    if not _SIGN.search(whole):
        return False
    said = _without_quotations(whole)
    if _speaks_as_template(said) or any(order.search(said) for order in _ORDERED):
        return True
    return not _FOR_PEOPLE.search(said) and any(order.search(said) for order in _ABOUT_ANSWERS)


def is_request(sentence: str) -> bool:
    """Whether a sentence asks for something, of whomever, and so says nothing that an answer could rest on."""
    return _asks(sentence) is not None


def stated(sentence: str) -> int:
    """How many of its characters state something, before it asks or commands: all of them, as a rule, or none.

    A text that breaks off may have a question or a command behind it in what looks like one sentence.
    """
    starts = [start for start in (_begins(sentence), _asks(sentence)) if start is not None]
    return min(starts, default=len(sentence))


def demands(sentence: str) -> bool:
    """Whether it commands or asks, be it people or machines, rather than states."""
    return is_request(sentence) or is_instruction(sentence)


def remark(text: str, found: Sequence[Span]) -> str:
    """What is to be told of a text that has some."""
    first = " ".join(text[found[0].start : found[0].end].split())
    shown = first if len(first) <= _SHOWN else f"{first[:_SHOWN].rsplit(' ', 1)[0]} …"
    some = "1 sentence reads like an instruction"
    told = some if len(found) == 1 else f"{len(found)} sentences read like instructions"
    return f"{told} {_NOT_QUOTED}: “{shown}”"


def is_about_instructions(told: str) -> bool:
    """Whether a remark is one of these."""
    return _NOT_QUOTED in told


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_ALIKE)


def _without_quotations(said: str) -> str:
    """What a sentence quotes it does not say, unless it is nothing but the quotation."""
    outside = _QUOTED.sub("“…”", said)
    return outside if len(_WORD.findall(outside)) >= _A_SENTENCE else said


def _speaks_as_template(said: str) -> bool:
    """Words that stand before such a mark speak of it, as in `we append <|im_end|> to each turn`."""
    mark = _TEMPLATE.search(said)
    return mark is not None and len(_WORD.findall(said[: mark.start()])) <= 1


def _with_code(text: str, span: Span) -> Span:
    opened = _OPENED.search(text, span.start, span.end)
    fence = _FENCE.match(text, opened.start() if opened else span.end)
    return Span(span.start, max(span.end, fence.end())) if fence else span
