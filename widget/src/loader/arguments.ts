import type { WidgetSettings } from '../page-api';

/** Matches the JSON of valid settings. Plural forms of the text `unread` must include `other`. */
const SETTINGS =
  /^{(,?"((locale|title|welcome)":"([^"\\]|\\.)*"|theme":"(auto|light|dark)"|position":"(right|left)"|form":{(,?"(name|email)":"(optional|required)")*}|texts":{(,?"(unread":{(,?"\w+":"([^"\\]|\\.)*")*,?"other":"([^"\\]|\\.)*"(,?"\w+":"([^"\\]|\\.)*")*}|\w+":"([^"\\]|\\.)*"))*}))*}$/;

/**
 * Returns a copy of a page's settings, without the undefined ones.
 *
 * @throws TypeError if a setting is unknown, or its type or value is wrong
 */
export function copySettings(settings: unknown): WidgetSettings {
  // A function becomes 0, so that the check refuses it. JSON.stringify would silently leave it out.
  const json = JSON.stringify(settings, (_, value: unknown) => (typeof value === 'function' ? 0 : value));
  check(SETTINGS.test(json), `set refuses ${json}`);
  return JSON.parse(json) as WidgetSettings;
}

export function check(isRight: boolean, message: string): void {
  if (!isRight) throw new TypeError(`chatWidget: ${message}.`);
}
