import { createHash } from 'node:crypto';
import { Locale } from '../../logins/people/person.dto';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 32rem; margin: 0 auto; padding: 2rem 1rem; }
h1 { font-size: 1.25rem; }
button { font: inherit; padding: .5rem 1rem; }
`;

const TEXTS = {
  en: {
    title: 'Mails about alerts',
    question: 'Do you want no more mails about the alerts of this workspace? The dashboard still shows them.',
    button: 'End the mails',
    done: 'You get no more mails about the alerts of this workspace. You can choose them again in your account.',
  },
  de: {
    title: 'Mails über Warnungen',
    question:
      'Möchten Sie keine Mails mehr über die Warnungen dieses Workspace? Das Dashboard zeigt sie weiterhin.',
    button: 'Mails beenden',
    done: 'Sie bekommen keine Mails mehr über die Warnungen dieses Workspace. In Ihrem Konto können Sie sie wieder wählen.',
  },
} satisfies Record<Locale, object>;

/** Returns the page that asks whether the mails shall end, or says that they have. It needs no script. */
export function endPage(locale: Locale, content: 'question' | 'done'): string {
  const texts = TEXTS[locale];
  const button = content === 'question' ? `<form method="post"><button>${texts.button}</button></form>` : '';
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${texts.title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${texts.title}</h1>
<p>${texts[content]}</p>
${button}
</main>
</body>
</html>
`;
}

/** Headers of the page: it runs nothing, is in no frame, and sends its address nowhere. */
export const END_PAGE_POLICY = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
};
