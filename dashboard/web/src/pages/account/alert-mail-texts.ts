import type { Locale } from '../../api/types';

/** Texts about mails of alerts, which only the account page loads. */
export const ALERT_MAIL_TEXTS = {
  en: {
    title: 'Mails about alerts',
    about:
      'An alert is mailed to you at once, and what follows within ten minutes comes in one further mail. The dashboard shows all alerts, whatever you choose here.',
    workspace: 'Workspace',
    isOn: 'Mail me the alerts of this workspace',
    kinds: 'Alerts that are mailed',
  },
  de: {
    title: 'Mails über Warnungen',
    about:
      'Eine Warnung bekommen Sie sofort als Mail; was in den zehn Minuten danach kommt, steht in einer weiteren. Das Dashboard zeigt alle Warnungen, was immer Sie hier wählen.',
    workspace: 'Workspace',
    isOn: 'Warnungen dieses Workspace als Mail',
    kinds: 'Warnungen, die als Mail kommen',
  },
} satisfies Record<Locale, object>;
