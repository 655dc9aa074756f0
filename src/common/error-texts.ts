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

/** Arguments with the values of a text's placeholders; none for a text without. */
export type ValuesOf<Text extends string> = Text extends string
  ? [PlaceholdersOf<Text>] extends [never]
    ? []
    : [values: Record<PlaceholdersOf<Text>, ErrorValue>]
  : never;

/** A fault's code and values. */
export interface CodedFault {
  code: FaultCode;
  values?: ErrorValues;
}

/** A fault's code and values, with its English text. */
export interface Fault extends CodedFault {
  message: string;
}

/** A reason's code and values, with its English text. */
export interface Reason {
  message: string;
  reason: ReasonCode;
  values?: ErrorValues;
}

/** Puts values in for the placeholders of a text. */
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

/**
 * Returns the fault of a field as a sentence, which names the field unless the fault's text is a sentence by
 * itself.
 */
export function faultSentence(
  field: string,
  { message, code }: Partial<CodedFault> & { message: string },
): string {
  return code && /^[A-Z{]/.test(FAULTS[code]) ? message : `${field} ${message}`;
}

/**
 * Makes the reason why a request is refused as a whole.
 * @param reason its code
 * @param values of the placeholders in its text, if there are any
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

/** Reads an English text back into its code and values; null for a text that is none of these. */
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

/** Makes the options of a validator whose faults the DTO words itself. */
export function validatorFault<Code extends FaultCode>(
  code: Code,
  ...values: ValuesOf<(typeof FAULTS)[Code]>
): { message: string; context: CodedFault } {
  const { message, ...context } = makeFault(code, ...values);
  return { message, context };
}
