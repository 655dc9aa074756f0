import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { keyOf } from './keys';
import { fromLocal, toLocal } from './local-time';

/** Shows a text field that reports its value when the person presses Enter or leaves the field. */
export function TypedFilter({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder?: string;
  value: string | undefined;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const finish = () => {
    if (typed !== null && typed.trim() !== (value ?? '')) onChange(typed.trim());
    setTyped(null);
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      value={typed ?? value ?? ''}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={finish}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Enter') finish();
      }}
    />
  );
}

export function TimeFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <TextInput
      type="datetime-local"
      step={1}
      label={label}
      value={typed ?? toLocal(value)}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={() => {
        if (typed !== null) onChange(fromLocal(typed) ?? '');
        setTyped(null);
      }}
    />
  );
}
