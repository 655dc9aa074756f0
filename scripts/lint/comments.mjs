// Rules for the form of comments.

/**
 * A rule of oxlint, which exports no type for it.
 *
 * @typedef {Parameters<import('oxlint/plugins-dev').RuleTester['run']>[1]} Rule
 */

/** First words that leave a doc comment without a subject, or make it depend on the comment before it. */
const NOT_A_BEGINNING =
  /^(Of|For|As|In|By|From|To|On|At|With|Without|After|Before|Until|Till|Between|Below|Above|Beside|Behind|Under|Where|When|While|Who|Whom|Whose|Which|Why|How|What|Whoever|Whatever|Those|These|This|That|It|Its|They|Their|So|Also|Not|But|And|Or|Another|Longer|More|Both|Many|Something|Somebody|Nobody|The same|Meanwhile)\b/;

/** Words that leave open which thing or person is meant. */
const UNNAMED = /\b(what|those of|nobody|somebody)\b/gi;

/** Lines that no wrapping makes shorter: an address, or a directive for the linter. */
const UNBREAKABLE = /https?:\/\/|(?:eslint|oxlint)-disable/;

/**
 * Reports a doc comment that does not begin with a verb or with the noun that it describes.
 *
 * @type {Rule}
 */
export const docCommentBeginning = {
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        const text = /^\*[\s*]*([^]*)$/.exec(comment.value)?.[1];
        const word = comment.type === 'Block' && text ? NOT_A_BEGINNING.exec(text)?.[1] : undefined;
        if (!word) continue;
        const message = `Begin with a third-person verb ("Returns …") or the noun described ("Slots in use …"), not with "${word}".`;
        context.report({ loc: comment.loc, message });
      }
    },
  }),
};

/**
 * Reports each line of a comment that has more columns than the rule's option.
 *
 * @type {Rule}
 */
export const commentWidth = {
  meta: { schema: [{ type: 'integer' }] },
  create: (context) => ({
    Program() {
      const { lines } = context.sourceCode;
      const max = Number(context.options[0]);
      for (const { loc } of context.sourceCode.getAllComments()) {
        for (let line = loc.start.line; line <= loc.end.line; line++) {
          const text = lines[line - 1] ?? '';
          const { length } = text;
          if (length <= max || UNBREAKABLE.test(text)) continue;
          const message = `A comment line of ${length} columns: wrap at ${max}.`;
          context.report({ loc: { start: { line, column: 0 }, end: { line, column: length } }, message });
        }
      }
    },
  }),
};

/**
 * Reports each word of a comment that stands for a thing or person without naming it.
 *
 * @type {Rule}
 */
export const namedThings = {
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        // Code in backticks may have the words.
        const text = comment.value.replace(/`[^`]*`/g, '').replace(/\s*\n[\s*]*/g, ' ');
        for (const [word] of text.matchAll(UNNAMED)) {
          const message = `Name the thing or person ("Returns the rows that it found", "the agent's reply") instead of "${word}".`;
          context.report({ loc: comment.loc, message });
        }
      }
    },
  }),
};
