import type { WidgetSettings } from '../page-api';

/** Matches the JSON of right settings. A text that has plural forms is one text, or has the form `other`. */
const SETTINGS =
  /^{(,?"((locale|title|welcome)":"([^"\\]|\\.)*"|theme":"(auto|light|dark)"|position":"(right|left)"|form":{(,?"(name|email)":"(optional|required)")*}|texts":{(,?"(unread":{(,?"\w+":"([^"\\]|\\.)*")*,?"other":"([^"\\]|\\.)*"(,?"\w+":"([^"\\]|\\.)*")*}|\w+":"([^"\\]|\\.)*"))*}))*}$/;

/**
 * Returns a copy of a page's settings, without those that are undefined.
 * @throws TypeError a setting is unknown, or of a wrong type or value
 */
export function copySettings(settings: unknown): WidgetSettings {
  // Without the number, JSON would leave functions out.
  const json = JSON.stringify(settings, (_, value: unknown) => (typeof value === 'function' ? 0 : value));
  check(SETTINGS.test(json), `set refuses ${json}`);
  return JSON.parse(json) as WidgetSettings;
}

/** Throws a TypeError unless a page's call is right. */
export function check(isRight: boolean, message: string): void {
  if (!isRight) throw new TypeError(`chatWidget: ${message}.`);
}
