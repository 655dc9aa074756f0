// Forms that call an operation from its page. The script of the page sends them.
import { escape } from '../markdown.mjs';
import { operationsOf, resolve } from './document.mjs';

/**
 * Returns the forms, by the comments that stand for them in the pages.
 *
 * @param {import('./document.mjs').Document} document
 * @returns {Map<string, string>}
 */
export function tryItForms(document) {
  return new Map(
    operationsOf(document).map((operation) => [`try ${operation.operationId}`, formOf(document, operation)]),
  );
}

/**
 * @param {import('./document.mjs').Document} document
 * @param {import('./document.mjs').Operation & { method: string, path: string }} operation
 */
function formOf(document, { method, path, parameters = [], requestBody }) {
  const fields = parameters
    .map((parameter) => resolve(document, parameter))
    .filter((parameter) => parameter.in !== 'header')
    .map(({ name, in: place, required, schema }) => {
      const hint = resolve(document, schema).example;
      return `<label>${escape(name)}<input name="${escape(name)}" data-in="${place}" autocomplete="off" spellcheck="false"${required ? ' required' : ''}${hint === undefined ? '' : ` placeholder="${escape(String(hint))}"`}></label>`;
    });
  const example = requestBody && resolve(document, requestBody).content?.['application/json']?.example;
  const body =
    example === undefined
      ? ''
      : `<label>Body<textarea name="body" rows="6" spellcheck="false">${escape(JSON.stringify(example, null, 2))}</textarea></label>`;
  return `<details class="try"><summary>Try it</summary><form data-method="${method}" data-path="${escape(path)}">
<label>API key<input name="key" type="password" autocomplete="off" spellcheck="false" required placeholder="plk_…"></label>
${fields.join('\n')}${body}
<button type="submit">Send ${method}</button>
<output hidden></output></form></details>
`;
}
