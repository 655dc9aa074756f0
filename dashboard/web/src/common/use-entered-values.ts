import { type FocusEvent, useRef } from 'react';

type Field = HTMLInputElement | HTMLTextAreaElement;

/**
 * Finds out whether the person has entered something in a form. Stores each field's value when the field
 * first gets the focus, and compares it later. Fields no longer in the document, as after a submission, don't
 * count.
 */
export function useEnteredValues() {
  const before = useRef(new Map<Field, string>());
  const keep = ({ currentTarget, target }: FocusEvent<HTMLElement, Element>) => {
    // React also passes on events of a dialog that the form opens. The dialog's fields are not inside the
    // form.
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
