import { Box, Button, Card, Group, SimpleGrid } from '@mantine/core';
import { IconFilter, IconX } from '@tabler/icons-react';
import { type ReactNode, useRef, useState } from 'react';
import { useTexts } from '../i18n/locale';

/** A filter that is set, in words. */
interface ActiveFilter {
  label: string;
  value: string;
  onRemove: () => void;
}

/**
 * Folds the fields of a list's filters, and shows those that are set as buttons that remove them. It is open
 * at first if one is set.
 */
export function FilterBar({
  active,
  onClear,
  actions,
  children,
}: {
  active: ActiveFilter[];
  onClear: () => void;
  /** Buttons beside the filters. */
  actions?: ReactNode;
  children: ReactNode;
}) {
  const texts = useTexts();
  const [isOpen, setOpen] = useState(active.length > 0);
  const toggle = useRef<HTMLButtonElement>(null);
  /** Keeps the focus near a button that disappears with the filter that it removes. */
  const remove = (act: () => void) => {
    toggle.current?.focus();
    act();
  };
  return (
    <Box component="search" aria-label={texts.filters.title}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Button
            ref={toggle}
            size="xs"
            variant="default"
            leftSection={<IconFilter size={14} aria-hidden />}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {texts.filters.title}
          </Button>
          {active.map(({ label, value, onRemove }) => (
            <Button
              key={label}
              size="xs"
              variant="light"
              className="breakable"
              rightSection={<IconX size={14} aria-hidden />}
              aria-label={texts.filters.remove(label, value)}
              onClick={() => remove(onRemove)}
            >
              {label}: {value}
            </Button>
          ))}
          {active.length > 1 && (
            <Button size="xs" variant="subtle" onClick={() => remove(onClear)}>
              {texts.filters.clear}
            </Button>
          )}
        </Group>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {isOpen && (
        <Card withBorder mt="xs">
          <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
            {children}
          </SimpleGrid>
        </Card>
      )}
    </Box>
  );
}
