import { type FocusEvent, useRef } from 'react';

type Field = HTMLInputElement | HTMLTextAreaElement;

/**
 * Knows whether the person has entered a value that is still in a form: each field's value is kept when it
 * first gets the focus. Fields that are gone, because the form was sent, don't count.
 */
export function useEnteredValues() {
  const before = useRef(new Map<Field, string>());
  const keep = ({ currentTarget, target }: FocusEvent<HTMLElement, Element>) => {
    // A dialog that a form opens is not inside it, but its events arrive here.
    if (isField(target) && currentTarget.contains(target) && !before.current.has(target))
      before.current.set(target, valueOf(target));
  };
  const hasEntered = () =>
    [...before.current].some(([field, value]) => field.isConnected && valueOf(field) !== value);
  return { keep, hasEntered };
}

function isField(element: Element): element is Field {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
}

function valueOf(field: Field): string {
  return `${field.value} ${field instanceof HTMLInputElement && field.checked}`;
}
