import { CloseButton, Kbd, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useRef } from 'react';
import { keyOf } from '../../../common/keys';
import { useTexts } from '../../../i18n/locale';
import { useKeys } from '../use-keys';

export const RESULT = 'data-result';

/** Moves the focus by `step` search results, or from the first result back to the field. */
export function moveToResult(step: number, field: HTMLElement | null): void {
  const results = [...document.querySelectorAll<HTMLElement>(`[${RESULT}]`)];
  const at = results.indexOf(document.activeElement as HTMLElement) + step;
  (at < 0 ? field : results[Math.min(at, results.length - 1)])?.focus();
}

/** Shows the search field. The slash key focuses it. The down arrow or Enter focuses the first result. */
export function SearchField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const { search } = useTexts().inbox;
  const field = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => field.current?.select() });
  return (
    <TextInput
      ref={field}
      type="search"
      px="sm"
      pb="xs"
      aria-label={search.field}
      placeholder={search.field}
      maxLength={200}
      value={text}
      leftSection={<IconSearch size={16} stroke={1.6} aria-hidden />}
      rightSection={
        text === '' ? (
          <Kbd size="xs" visibleFrom="sm" aria-hidden>
            /
          </Kbd>
        ) : (
          <CloseButton size="sm" aria-label={search.end} onClick={() => onChange('')} />
        )
      }
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      onKeyDown={(event) => {
        const key = keyOf(event);
        if (key === 'Escape') onChange('');
        else if (key === 'ArrowDown' || key === 'Enter') moveToResult(1, null);
        else return;
        event.preventDefault();
      }}
    />
  );
}
