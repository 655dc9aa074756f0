import { type FocusEvent, useRef } from 'react';

type Field = HTMLInputElement | HTMLTextAreaElement;

/** Finds out whether a form's fields have changed since they first got the focus. Ignores removed fields. */
export function useEnteredValues() {
  const before = useRef(new Map<Field, string>());
  const keep = ({ currentTarget, target }: FocusEvent<HTMLElement, Element>) => {
    // React also passes on the events of a dialog that the form has opened but that is not inside it.
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
