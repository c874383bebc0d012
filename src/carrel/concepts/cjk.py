"""Terms of Chinese, Japanese and Korean texts, where no blanks part words: what the author sets apart.

That is what stands in quotation marks, and what a sentence begins with that says what it is (`后缀数组是…`). Headings,
bold words and Latin terms inside are found as in every text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_LETTER = r"[\w\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af·\- ]"
_QUOTED = re.compile(rf"[《「『“]({_LETTER}{{2,20}})[》」』”]")
_NOTED = r"(?:\s?（[^（）]{1,60}）|\s?\([^()]{1,60}\))?[*_」”]*"
_DEFINED = re.compile(
    rf"^[\s*_「“]*({_LETTER}{{2,14}}?)[*_」”]*{_NOTED}[，,]?\s?"
    r"(?:就是|是(?:指|一种|一个|一类|由|用|求|用来|用于|在|对)|指的?是|定义为|被称为|称为|とは|は、)"
)
_NOT_A_TERM = re.compile(
    r"^(?:这|那|它|他|她|我|你|其|该|此|如|若|但|而|因|所|可|不|只|就|也|还|特别|注意|首先|由于|虽然|应该|没有|一般|通常|这里|本|每|有)"
    r"|[的了们不并都很未]|同样|可以|最终|简言|换言|总之|答案|(?:时|后|中|上|下|同样|当然|实际上|显然|其实)$"
)

_HEADINGS = """
    实现 定义 例题 习题 练习 性质 引入 概述 参考资料 参考资料与注释 代码 题目
    过程 应用 证明 解释 思路 介绍 背景 总结 时间复杂度 空间复杂度 复杂度 参考代码
    题解 解法 例子 前言 简介 正确性 优化 练习题 引言 参考文献 结论 方法
    结果 讨论 摘要
"""
_COMMON_HEADINGS = frozenset(_HEADINGS.split())
_NUMBERED = re.compile(
    r"(?:例|观察|情况|步骤|第.{1,2}种|方法|问题|题目|解法)\s*[\d一二三四五六七八九十(（]*\s*(?:\([a-z]\))?$"
)


def is_common_heading(heading: str) -> bool:
    """Whether any text might have it: `实现`, `例 1`."""
    return "".join(heading.split()) in _COMMON_HEADINGS or _NUMBERED.match(heading) is not None


def quoted(text: str) -> Iterator[str]:
    for match in _QUOTED.finditer(text):
        if CJK.search(match[1]) and not _NOT_A_TERM.search(match[1]):
            yield match[1].strip()


def defined(sentence: str) -> str:
    """What a sentence says what it is; empty if it says that of nothing."""
    match = _DEFINED.match(sentence)
    term = match[1].strip() if match else ""
    return term if CJK.search(term) and not _NOT_A_TERM.search(term) else ""
