/**
 * Returns a content security policy with only what the widget needs, so that a preview shows what is missing.
 */
export function previewPolicy(publicUrl: string): string {
  return [
    "default-src 'none'",
    `script-src ${publicUrl}/widget/`,
    `connect-src ${publicUrl}/channels/widget/`,
    `img-src ${publicUrl} data:`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join(';');
}

/**
 * Returns the HTML of the preview.
 * @param snippet the HTML that the service prints for the workspace's pages
 */
export function previewPage(snippet: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Widget preview</title>
    ${snippet}
  </head>
  <body>
    <h1>Preview</h1>
    <p>This page shows your widget as visitors see it.</p>
    <p>What you write here is stored like a visitor's message.</p>
  </body>
</html>
`;
}
