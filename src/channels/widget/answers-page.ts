import { createHash } from 'node:crypto';

/**
 * Script of the page. It has the token in memory alone, shows texts as texts, and reads new messages every
 * 10 s while the page is seen.
 */
const SCRIPT = `
const german = navigator.language.startsWith('de');
document.documentElement.lang = german ? 'de' : 'en';
const say = (en, de) => (german ? de : en);
const by = (id) => document.getElementById(id);
const base = location.pathname.replace(/\\/answers$/, '');
const token = location.hash.slice(1);
document.title = say('Your conversation', 'Ihre Unterhaltung');
by('send').textContent = say('Send', 'Senden');
by('text').placeholder = say('Write a message', 'Nachricht schreiben');
by('text').setAttribute('aria-label', by('text').placeholder);
let drawn = '';
let draft = crypto.randomUUID();
async function call(method, path, body) {
  const headers = { authorization: 'Bearer ' + token };
  if (body) headers['content-type'] = 'application/json';
  const answer = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  if (answer.status === 401 || answer.status === 404) {
    by('form').hidden = true;
    by('log').replaceChildren();
    by('fault').textContent = say('This link has ended. Open the chat on the website where you wrote.',
      'Dieser Link ist abgelaufen. Öffnen Sie den Chat auf der Website, auf der Sie geschrieben haben.');
    throw new Error('ended');
  }
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}
async function read() {
  const { data } = await call('GET', '/messages?limit=100');
  const text = JSON.stringify(data.map(({ id, body }) => [id, body]));
  if (text === drawn) return;
  drawn = text;
  by('log').replaceChildren(...data.reverse().map(({ senderType, body, createdAt }) => {
    const row = document.createElement('li');
    row.className = senderType === 'AGENT' ? 'theirs' : 'mine';
    const time = document.createElement('time');
    time.textContent = new Date(createdAt).toLocaleString();
    row.append(body || say('(file or removed message)', '(Datei oder entfernte Nachricht)'), time);
    return row;
  }));
  by('log').lastElementChild?.scrollIntoView();
  const last = data.findLast(({ senderType }) => senderType === 'AGENT');
  if (last && !document.hidden) await call('POST', '/receipts', { messageId: last.id, status: 'READ' });
}
const attempt = (work) => work().then(() => { by('fault').textContent = ''; }, (error) => {
  if (error.message !== 'ended')
    by('fault').textContent = say('That did not work. Try again.', 'Das ging nicht. Versuchen Sie es erneut.');
});
by('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const body = by('text').value;
  if (!body.trim()) return;
  attempt(async () => {
    await call('POST', '/messages', { clientMessageId: draft, body });
    draft = crypto.randomUUID();
    by('text').value = '';
    await read();
  });
});
attempt(read);
setInterval(() => document.hidden || by('form').hidden || attempt(read), 10000);
document.addEventListener('visibilitychange', () => { drawn = ''; document.hidden || attempt(read); });
`;

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 40rem; margin: 0 auto; padding: 1rem; }
ol { list-style: none; padding: 0; display: grid; gap: .5rem; }
li { padding: .5rem .75rem; border-radius: .75rem; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 85%; }
.theirs { background: light-dark(#eceff3, #2b313a); justify-self: start; }
.mine { background: light-dark(#d7e6ff, #1d3a66); justify-self: end; }
time { display: block; font-size: .8rem; opacity: .8; }
form { display: flex; gap: .5rem; }
form[hidden] { display: none; }
textarea { flex: 1; font: inherit; }
button { font: inherit; padding: .5rem 1rem; }
`;

/** Page that shows one conversation to whoever has a link of a mail about unread answers. */
export const ANSWERS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Your conversation</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<ol id="log" aria-live="polite"></ol>
<p id="fault" role="status"></p>
<form id="form"><textarea id="text" rows="2" maxlength="4000"></textarea><button id="send"></button></form>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Headers of the page: it runs its own script alone, is in no frame, and sends its address nowhere. */
export const ANSWERS_POLICY = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src ${hashOf(SCRIPT)}`,
    `style-src ${hashOf(STYLE)}`,
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
};
