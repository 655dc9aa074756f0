import { FAULTS } from './fault-texts';
import { REASONS, THINGS } from './reason-texts';

export type FaultCode = keyof typeof FAULTS;
export type ReasonCode = keyof typeof REASONS;
export type Thing = (typeof THINGS)[number];

export type ErrorValue = string | number | readonly (string | number)[];
export type ErrorValues = Record<string, ErrorValue>;

type PlaceholdersOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;

/** Argument list with the values for a text's placeholders; empty for a text without placeholders. */
export type ValuesOf<Text extends string> = Text extends string
  ? [PlaceholdersOf<Text>] extends [never]
    ? []
    : [values: Record<PlaceholdersOf<Text>, ErrorValue>]
  : never;

export interface CodedFault {
  code: FaultCode;
  values?: ErrorValues;
}

export interface Fault extends CodedFault {
  message: string;
}

/** Code, values and English text of the reason why a request is refused. */
export interface Reason {
  message: string;
  reason: ReasonCode;
  values?: ErrorValues;
}

/** Replaces the placeholders of a text by values. Placeholders without a value remain. */
export function fillText(text: string, values: ErrorValues = {}): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    return value === undefined ? placeholder : Array.isArray(value) ? value.join(', ') : String(value);
  });
}

export function makeFault<Code extends FaultCode>(
  code: Code,
  ...[values]: ValuesOf<(typeof FAULTS)[Code]>
): Fault {
  return { message: fillText(FAULTS[code], values), code, ...(values && { values }) };
}

/** Returns a fault as a sentence: its text, after the name of the field unless the text is a sentence. */
export function faultSentence(
  field: string,
  { message, code }: Partial<CodedFault> & { message: string },
): string {
  return code && /^[A-Z{]/.test(FAULTS[code]) ? message : `${field} ${message}`;
}

/**
 * Makes the reason why a request is refused as a whole.
 * @param reason code of the reason
 * @param values values for the placeholders of its text, if it has any
 */
export function makeReason<Code extends ReasonCode>(
  reason: Code,
  ...[values]: ValuesOf<(typeof REASONS)[Code]>
): Reason {
  return { message: fillText(REASONS[reason], values), reason, ...(values && { values }) };
}

const READERS = (Object.keys(FAULTS) as FaultCode[]).map((code) => {
  const names = [...FAULTS[code].matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const literals = FAULTS[code].split(/\{\w+\}/).map((text) => text.replace(/[^\w\s]/g, '\\$&'));
  return { code, names, pattern: new RegExp(`^${literals.join('(.+)')}$`) };
});

/** Parses the English text of a fault into its code and values; null for any other text. */
export function readFault(text: string): CodedFault | null {
  for (const { code, names, pattern } of READERS) {
    const found = pattern.exec(text)?.slice(1);
    if (found)
      return {
        code,
        ...(names[0] && { values: Object.fromEntries(names.map((name, n) => [name, found[n]!])) }),
      };
  }
  return null;
}

/** Returns options with which a validator reports this fault instead of its default message. */
export function validatorFault<Code extends FaultCode>(
  code: Code,
  ...values: ValuesOf<(typeof FAULTS)[Code]>
): { message: string; context: CodedFault } {
  const { message, ...context } = makeFault(code, ...values);
  return { message, context };
}
