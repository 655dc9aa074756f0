import styles from './form.css?inline';
import type { MailHost, MailModule } from './contract';

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@.]{2,}$/;

const TEXTS = {
  en: {
    question: 'Where shall we answer, if you are not here?',
    email: 'E-mail',
    save: 'Save',
    invalid: 'Please write an e-mail address, such as name@example.com.',
    failed: 'That did not work. Please try again.',
    saved: 'We answer here, and by e-mail if you are not here.',
  },
  de: {
    question: 'Wohin sollen wir antworten, wenn Sie nicht hier sind?',
    email: 'E-Mail',
    save: 'Speichern',
    invalid: 'Bitte geben Sie eine E-Mail-Adresse ein, z. B. name@example.com.',
    failed: 'Das ging nicht. Bitte versuchen Sie es erneut.',
    saved: 'Wir antworten hier, und per E-Mail, wenn Sie nicht hier sind.',
  },
};

/** Asks for an address in `box`, if the visitor has none and the service mails answers. */
export const offerMail: MailModule['offerMail'] = async (box, { tag, call }: MailHost) => {
  const locale = tag.toLowerCase().startsWith('de') ? 'de' : 'en';
  const { address } = await call<{ address: string }>('GET');
  if (address === 'KNOWN') await call('POST', { locale });
  if (address !== 'NONE' || !box.isConnected || box.firstChild) return;
  const root = box.getRootNode() as ShadowRoot;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  draw(box, TEXTS[locale], (email) => call('POST', { email, locale }));
};

function draw(
  box: HTMLElement,
  texts: (typeof TEXTS)['en'],
  save: (email: string) => Promise<unknown>,
): void {
  const form = document.createElement('form');
  form.className = 'answers-by-mail';
  form.noValidate = true;
  const question = Object.assign(document.createElement('label'), { htmlFor: 'answer-email' });
  question.textContent = texts.question;
  const field = document.createElement('input');
  Object.assign(field, { id: 'answer-email', type: 'email', autocomplete: 'email', maxLength: 200 });
  field.placeholder = texts.email;
  const button = Object.assign(document.createElement('button'), { type: 'submit', textContent: texts.save });
  const status = document.createElement('p');
  status.setAttribute('role', 'status');
  form.append(question, field, button, status);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const email = field.value.trim();
    const isValid = EMAIL.test(email);
    field.setAttribute('aria-invalid', String(!isValid));
    status.textContent = isValid ? '' : texts.invalid;
    if (!isValid) return field.focus();
    button.disabled = true;
    save(email).then(
      () => {
        const saved = Object.assign(document.createElement('p'), { textContent: texts.saved, tabIndex: -1 });
        saved.className = 'answers-by-mail';
        form.replaceWith(saved);
        saved.focus();
      },
      () => {
        button.disabled = false;
        status.textContent = texts.failed;
      },
    );
  });
  box.append(form);
}
