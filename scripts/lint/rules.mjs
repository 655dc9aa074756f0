import { commentWidth, docCommentBeginning, namedThings } from './comments.mjs';

// The project's own lint rules, as a plugin for oxlint (.oxlintrc.json).

/** @import { Rule } from './comments.mjs' */
/** @typedef {{ selector: string, message: string }} Restriction */

/**
 * Reports every node that matches a selector of ESTree (esquery's language).
 *
 * @type {Rule}
 */
const restrictedSyntax = {
  meta: { schema: { type: 'array', items: { type: 'object' } } },
  create: (context) =>
    Object.fromEntries(
      /** @type {Restriction[]} */ (context.options).map(({ selector, message }) => [
        selector,
        (/** @type {{ range: [number, number] }} */ node) => context.report({ node, message }),
      ]),
    ),
};

/** @type {{ meta: { name: string }, rules: Record<string, Rule> }} */
export default {
  meta: { name: 'house' },
  rules: {
    'comment-width': commentWidth,
    'doc-comment-beginning': docCommentBeginning,
    'named-things': namedThings,
    'restricted-syntax': restrictedSyntax,
  },
};
