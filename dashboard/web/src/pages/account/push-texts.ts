import type { Locale } from '../../api/types';
import { useLocale } from '../../i18n/locale';

const en = {
  title: 'Notices in this browser',
  about:
    'Shows notices of the inbox while no tab of the dashboard is open. They end when you log out, or 12 hours after you last used the dashboard, and begin again at your next login here.',
  choice: 'Show notices in this browser',
  unsupported: 'This browser can’t show notices.',
  denied: 'The browser does not allow notices of this page. Allow them in its settings, beside the address.',
  failed: 'The browser’s push service did not answer. Try again, or use another browser.',
  test: 'Send me a test',
  sent: 'Sent. It should appear in a moment.',
  notTaken: 'The browser’s push service did not take the test. Turn notices off and on again.',
};

type PushTexts = typeof en;

const de: PushTexts = {
  title: 'Benachrichtigungen in diesem Browser',
  about:
    'Zeigt Benachrichtigungen des Posteingangs, während kein Tab des Dashboards offen ist. Sie enden, wenn Sie sich abmelden oder das Dashboard 12 Stunden nicht benutzen, und beginnen mit der nächsten Anmeldung hier wieder.',
  choice: 'Benachrichtigungen in diesem Browser zeigen',
  unsupported: 'Dieser Browser kann keine Benachrichtigungen zeigen.',
  denied:
    'Der Browser erlaubt dieser Seite keine Benachrichtigungen. Erlauben Sie sie in seinen Einstellungen neben der Adresse.',
  failed:
    'Der Push-Dienst des Browsers hat nicht geantwortet. Versuchen Sie es noch einmal oder nehmen Sie einen anderen Browser.',
  test: 'Test an mich senden',
  sent: 'Gesendet. Er sollte gleich erscheinen.',
  notTaken:
    'Der Push-Dienst des Browsers hat den Test nicht angenommen. Schalten Sie die Benachrichtigungen aus und wieder an.',
};

const TEXTS: Record<Locale, PushTexts> = { en, de };

/** Returns the texts about notices in a browser. They are loaded with the page that shows them. */
export function usePushTexts(): PushTexts {
  return TEXTS[useLocale()];
}
