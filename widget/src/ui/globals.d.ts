/** Path of the form for an e-mail address, relative to the app. The build replaces it. */
declare const MAIL_FORM_PATH: string;
