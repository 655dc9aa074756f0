import { Checkbox, Code, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { CreatedEndpoint, EventTypeInfo, UrlCheck } from '../../api/types';
import { useChange, useRead, useWorkspace } from '../../api/workspace';
import { Dialog, Form } from '../../common/dialogs';
import { Fault, faultOf } from '../../common/error-notice';
import { useTexts } from '../../i18n/locale';
import { ALL_EVENTS, MAX_RATE } from './endpoint-rules';

const TYPING_PAUSE_MS = 400;

interface NewEndpoint {
  url: string;
  events: string[];
  rateLimit?: number;
}

export function CreateEndpointDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (endpoint: CreatedEndpoint) => void;
}) {
  const texts = useTexts();
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<string[]>([ALL_EVENTS]);
  const [rateLimit, setRateLimit] = useState<string | number>('');
  const check = useUrlCheck(url);
  const create = useChange((at, input: NewEndpoint) =>
    api.post<CreatedEndpoint>(`${at}/webhook-endpoints`, input),
  );
  const submit = () => {
    const input = { url: url.trim(), events, ...(rateLimit !== '' && { rateLimit: Number(rateLimit) }) };
    create.mutate(input, { onSuccess: onCreated });
  };
  const urlFault = check && !check.ok ? <Fault detail={check.fault} /> : faultOf(create.error, 'url');
  return (
    <Dialog title={texts.webhooks.create} onClose={onClose} size="lg">
      <Form
        action={texts.webhooks.create}
        isPending={create.isPending}
        isDisabled={events.length === 0}
        error={create.error}
        onSubmit={submit}
        onCancel={onClose}
      >
        <div>
          <TextInput
            label={texts.webhooks.url}
            description={texts.webhooks.urlAdvice}
            placeholder="https://example.com/webhooks"
            type="url"
            required
            data-autofocus
            autoComplete="off"
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={urlFault}
          />
          <Text size="sm" role="status" mt={4}>
            {check?.ok && texts.webhooks.urlFits}
          </Text>
        </div>
        <EventChoice events={events} onChange={setEvents} />
        <NumberInput
          label={texts.webhooks.rateLimit}
          description={texts.webhooks.rateLimitAdvice}
          min={1}
          max={MAX_RATE}
          allowDecimal={false}
          value={rateLimit}
          onChange={setRateLimit}
          error={faultOf(create.error, 'rateLimit')}
          hideControls
        />
      </Form>
    </Dialog>
  );
}

/**
 * Returns the service's opinion of an address once the person has stopped typing; undefined while it is not
 * known.
 */
function useUrlCheck(url: string): UrlCheck | undefined {
  const { id } = useWorkspace();
  const [typed] = useDebouncedValue(url.trim(), TYPING_PAUSE_MS);
  const check = useQuery({
    queryKey: ['workspaces', id, 'check-url', typed],
    queryFn: () => api.post<UrlCheck>(`/workspaces/${id}/webhook-endpoints/check-url`, { url: typed }),
    enabled: typed.length > 'https://'.length,
    staleTime: Infinity,
    retry: false,
  });
  return typed === url.trim() ? check.data : undefined;
}

function EventChoice({ events, onChange }: { events: string[]; onChange: (events: string[]) => void }) {
  const texts = useTexts();
  const types = useRead<{ data: EventTypeInfo[] }>('event-types', {}, { refreshMs: false });
  const takesAll = events.includes(ALL_EVENTS);
  const offered = types.data?.data.filter(({ kind }) => kind === 'fact') ?? [];
  const toggle = (type: string, isWanted: boolean) =>
    onChange(isWanted ? [...events, type] : events.filter((event) => event !== type));
  return (
    <Stack gap="xs" role="group" aria-label={texts.webhooks.events}>
      <Text size="sm" fw={500}>
        {texts.webhooks.events}
      </Text>
      <Checkbox
        label={texts.webhooks.allEvents}
        description={texts.webhooks.allEventsAdvice}
        checked={takesAll}
        onChange={(event) => onChange(event.currentTarget.checked ? [ALL_EVENTS] : [])}
      />
      {offered.map((info) => (
        <div key={info.type}>
          <Checkbox
            label={info.type}
            description={texts.eventsAbout?.[info.type] ?? info.description}
            checked={takesAll || events.includes(info.type)}
            disabled={takesAll}
            onChange={(event) => toggle(info.type, event.currentTarget.checked)}
          />
          <EventDetails info={info} />
        </div>
      ))}
      {events.length === 0 && (
        <Text size="sm" c="var(--mantine-color-error)">
          {texts.webhooks.eventNeeded}
        </Text>
      )}
    </Stack>
  );
}

function EventDetails({ info }: { info: EventTypeInfo }) {
  const texts = useTexts();
  return (
    <Text size="sm" component="details" ml={30} mt={4}>
      <summary>{texts.webhooks.exampleOf(info.type)}</summary>
      <Code block mt="xs" tabIndex={0} role="region" aria-label={texts.webhooks.exampleOf(info.type)}>
        {JSON.stringify(info.example, null, 2)}
      </Code>
      <Text size="sm" mt="xs">
        {texts.webhooks.schema}
      </Text>
      <Code block mt={4} tabIndex={0} mah={240} role="region" aria-label={texts.webhooks.schema}>
        {JSON.stringify(info.schema, null, 2)}
      </Code>
    </Text>
  );
}
