import type { WidgetPreview } from 'conversation-messaging-service';
import type { Locale } from 'conversation-messaging-service/logins';

/**
 * Returns the content security policy of the preview page. It allows only the sources that the documentation
 * names for websites, so that a person notices here if one is missing there. The sandbox takes the page's
 * origin away, so the page can't read the dashboard's cookies, storage and pages. `allow-forms` is needed
 * because the widget's composer is a form, although the form is never submitted.
 */
export function previewPolicy(publicUrl: string, nonce: string): string {
  return [
    'sandbox allow-scripts allow-forms',
    "default-src 'none'",
    `script-src 'nonce-${nonce}' ${publicUrl}/widget/`,
    `style-src 'nonce-${nonce}'`,
    `connect-src ${publicUrl}/channels/widget/`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join(';');
}

const TEXTS: Record<Locale, { title: string; note: string; shop: string; products: string[] }> = {
  en: {
    title: 'Widget preview',
    note: 'A made-up shop page with your widget, as visitors see it. What you write is stored like a visitor’s message.',
    shop: 'Your shop',
    products: ['Green tea', 'Black tea', 'Teapot'],
  },
  de: {
    title: 'Vorschau des Widgets',
    note: 'Eine erfundene Shopseite mit Ihrem Widget, wie Besucher es sehen. Was Sie schreiben, wird wie die Nachricht eines Besuchers gespeichert.',
    shop: 'Ihr Shop',
    products: ['Grüner Tee', 'Schwarzer Tee', 'Teekanne'],
  },
};

const STYLES = `
  :root { color-scheme: light dark; }
  body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#faf8f4, #191b18); color: light-dark(#23271f, #e8eae3); }
  aside { padding: 8px 24px; font-size: 14px; background: light-dark(#e9eefb, #232a3d); }
  .products { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 24px; max-width: 900px; padding: 24px; }
  h1 { margin: 0; padding: 20px 24px; font-size: 22px; font-weight: 650; border-bottom: 1px solid light-dark(#e4dfd4, #32362f); }
  h2 { margin: 10px 0 0; font-size: 16px; font-weight: 550; }
  .picture { aspect-ratio: 4 / 3; border-radius: 12px; background: linear-gradient(135deg, light-dark(#dfe8d2, #37422b), light-dark(#b9cda0, #586b41)); }
`;

/**
 * Returns the HTML of the preview page, which looks like a shop. The page's script adds the preview's token
 * to the widget's requests, because the widget's own code has no preview mode.
 */
export function previewPage({ snippet, token }: WidgetPreview, nonce: string, locale: Locale): string {
  const { title, note, shop, products } = TEXTS[locale];
  const cards = products.map((name) => `<section><div class="picture"></div><h2>${name}</h2></section>`);
  return `<!doctype html>
<html lang="${locale}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <style nonce="${nonce}">${STYLES}</style>
    <script nonce="${nonce}">
      const send = fetch;
      window.fetch = (url, { headers, ...rest }) =>
        send(url, { ...rest, headers: { ...headers, 'X-Widget-Preview': '${token}' } });
    </script>
    ${snippet}
  </head>
  <body>
    <aside>${note}</aside>
    <main>
      <h1>${shop}</h1>
      <div class="products">${cards.join('')}</div>
    </main>
  </body>
</html>
`;
}
