import { ActionIcon, Box, Button, Code, CopyButton, Group, Paper, Text, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useTexts } from '../i18n/locale';
import { useAnnounce } from './announcer';

function useCopied(copy: () => void): () => void {
  const announce = useAnnounce();
  const texts = useTexts();
  return () => {
    copy();
    announce(texts.common.copied);
  };
}

function CopyAction({ copied, copy, name }: { copied: boolean; copy: () => void; name: string }) {
  const texts = useTexts();
  const label = texts.common.copyThing(name);
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" size="md" aria-label={label} onClick={useCopied(copy)}>
        {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}

function LabelledCopyAction({ copied, copy, label }: { copied: boolean; copy: () => void; label: string }) {
  return (
    <Button
      variant="default"
      size="compact-sm"
      leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
      onClick={useCopied(copy)}
    >
      {label}
    </Button>
  );
}

export function CopyAsButton({ text, label }: { text: string; label: string }) {
  return <CopyButton value={text}>{(state) => <LabelledCopyAction {...state} label={label} />}</CopyButton>;
}

export function CopyText({ value, name }: { value: string; name: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="start">
      <Code className="breakable">{value}</Code>
      <CopyButton value={value}>{(state) => <CopyAction {...state} name={name} />}</CopyButton>
    </Group>
  );
}

export function CopyBlock({
  label,
  value,
  wrap = false,
  maxHeight = 320,
}: {
  label: string;
  value: string;
  wrap?: boolean;
  maxHeight?: number;
}) {
  const texts = useTexts();
  return (
    <Box>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <CopyButton value={value}>
          {(state) => <LabelledCopyAction {...state} label={texts.common.copy} />}
        </CopyButton>
      </Group>
      <Paper withBorder radius="sm">
        <Code
          block
          tabIndex={0}
          role="region"
          aria-label={label}
          mah={maxHeight}
          {...(wrap && { style: { whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' } })}
        >
          {value}
        </Code>
      </Paper>
    </Box>
  );
}
