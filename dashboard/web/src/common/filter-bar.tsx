import { Box, Button, Card, Group, SimpleGrid } from '@mantine/core';
import { IconFilter, IconX } from '@tabler/icons-react';
import { type ReactNode, useRef, useState } from 'react';
import { useTexts } from '../i18n/locale';

interface ActiveFilter {
  label: string;
  value: string;
  onRemove: () => void;
}

/** Shows a list's active filters as buttons that remove them. Another button unfolds the filter fields. */
export function FilterBar({
  active,
  onClear,
  actions,
  children,
}: {
  active: ActiveFilter[];
  onClear: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const texts = useTexts();
  const [isOpen, setOpen] = useState(active.length > 0);
  const toggle = useRef<HTMLButtonElement>(null);
  /** Moves the focus to the toggle button, because the clicked button disappears with its filter. */
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
