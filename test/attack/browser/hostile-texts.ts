/** Letters with so many marks above and below that they reach over the lines around them. */
const ZALGO = [...'READ ME'].map((letter) => letter + '\u0301\u0316\u0489\u0334\u033d'.repeat(40)).join('');

/**
 * Texts that customers write to break the inbox of those who answer. `trap` is the address of a server that
 * nothing may ask.
 */
export function hostileTexts(trap: string): string[] {
  return [
    '<script>window.owned = true</script>',
    `<img src="${trap}/img.png" onerror="window.owned = true"> <svg onload="window.owned = true">`,
    `<iframe src="${trap}/frame"></iframe><link rel="stylesheet" href="${trap}/style.css">`,
    `<style>@import url(${trap}/import.css); * { display: none !important }</style>`,
    `<form action="${trap}/form"><input name="password" autofocus></form><meta http-equiv="refresh" content="0;url=${trap}/">`,
    `![picture](${trap}/markdown.png) [click](javascript:window.owned=true) ${trap}/plain.png`,
    'javascript:window.owned=true data:text/html,<script>window.owned=true</script>',
    "{{constructor.constructor('window.owned=true')()}} ${window.owned=true} <%= 7 * 7 %> %s%n%x",
    '"></article></div><h1>Inbox</h1><!-- ]]> */ --',
    `=HYPERLINK("${trap}/formula";"Click") +1 -1 @SUM(1+1)*cmd|' /C calc'!A0`,
    '\u202Ednuof ton\u2066\u2067\u2068\u202A\u202B and what follows is turned round',
    '\u2069\u2069\u202C\u202C\u200F\u061C isolates are ended that did not begin',
    ZALGO,
    'W'.repeat(4_000),
    '\u{FDFD}'.repeat(500),
    '\n'.repeat(1_000) + 'below a thousand lines',
    '\u2028\u2029\u0085\u000B\u000C lines of other kinds',
    '\u0001\u0007\u0008\u001B[31mred\u001B[0m\u007F\u0090 controls',
    '\u200B\u200C\u200D\uFEFF\u2060\u00AD\u3164\u2800\u{E0001}\u{E007F} nothing to see',
    'مرحبا، أين طلبي رقم 42؟ (عاجل) — שלום, איפה ההזמנה שלי?',
    '👩‍👩‍👧‍👦🏳️‍🌈👍🏿'.repeat(60),
    '__proto__ constructor toString null undefined NaN -0 1e309 true',
  ];
}

/** Names that hide who writes, pretend to be somebody else, or have no end. */
export const HOSTILE_NAMES = [
  '\u202Eeeffo ruoy\u2066',
  `\u2066${'W'.repeat(150)}`,
  '\u200B\u200D\u2060\u3164\u2800\uFEFF.',
  ZALGO.slice(0, 200),
  '<b onmouseover="window.owned = true">Bold</b>',
  '=1+1',
  'عائشة بنت أبي بكر',
  'Line\nbreak\tand\rreturn',
];
