import { Checkbox, Code, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import type { Endpoint, EventTypeInfo, UrlCheck } from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { AUTOMATIC_TEXTS } from '../../common/automatic/automatic-texts';
import { Fault, faultOf } from '../../common/error-notice';
import { useLocale, useTexts } from '../../i18n/locale';
import { ALL_EVENTS, MAX_DESCRIPTION, MAX_NAME, MAX_RATE } from './endpoint-rules';

const TYPING_PAUSE_MS = 400;

interface EndpointValues {
  url: string;
  events: string[];
  rateLimit: string | number;
  name: string;
  description: string;
  context: boolean;
  automaticRecovery: boolean;
}

export const NEW_ENDPOINT: EndpointValues = {
  url: '',
  events: [ALL_EVENTS],
  rateLimit: '',
  name: '',
  description: '',
  context: false,
  automaticRecovery: false,
};

export function valuesOf(endpoint: Endpoint): EndpointValues {
  const { url, events, rateLimit, name, description, context, automaticRecovery } = endpoint;
  return {
    url,
    events,
    rateLimit: rateLimit ?? '',
    name: name ?? '',
    description: description ?? '',
    context,
    automaticRecovery,
  };
}

/** Returns the settings in the form that the server expects, with null for an empty field. */
export function inputOf(values: EndpointValues) {
  const { url, events, rateLimit, name, description, context, automaticRecovery } = values;
  return {
    url: url.trim(),
    events,
    rateLimit: rateLimit === '' ? null : Number(rateLimit),
    name: name.trim() || null,
    description: description.trim() || null,
    context,
    automaticRecovery,
  };
}

/** Shows an endpoint's fields. Checks the entered address, unless it is the endpoint's `present` one. */
export function EndpointFields({
  values,
  present,
  error,
  urlNote,
  onChange,
}: {
  values: EndpointValues;
  present?: string;
  error: unknown;
  urlNote?: ReactNode;
  onChange: (values: EndpointValues) => void;
}) {
  const texts = useTexts();
  const automatic = AUTOMATIC_TEXTS[useLocale()];
  const { url, events, rateLimit, name, description, context, automaticRecovery } = values;
  const check = useUrlCheck(url, url.trim() !== present);
  const set = (changes: Partial<EndpointValues>) => onChange({ ...values, ...changes });
  const urlFault = check && !check.ok ? <Fault detail={check.fault} /> : faultOf(error, 'url');
  return (
    <>
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
          onChange={(event) => set({ url: event.currentTarget.value })}
          error={urlFault}
        />
        <Text size="sm" role="status" mt={4}>
          {check?.ok && texts.webhooks.urlFits}
        </Text>
        {urlNote}
      </div>
      <TextInput
        label={texts.webhooks.name}
        description={texts.webhooks.nameAdvice}
        maxLength={MAX_NAME}
        autoComplete="off"
        value={name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={faultOf(error, 'name')}
      />
      <TextInput
        label={texts.webhooks.description}
        maxLength={MAX_DESCRIPTION}
        autoComplete="off"
        value={description}
        onChange={(event) => set({ description: event.currentTarget.value })}
        error={faultOf(error, 'description')}
      />
      <EventChoice events={events} onChange={(chosen) => set({ events: chosen })} />
      <Checkbox
        label={texts.webhooks.context}
        description={texts.webhooks.contextAdvice}
        checked={context}
        onChange={(event) => set({ context: event.currentTarget.checked })}
      />
      <Checkbox
        label={automatic.choice}
        description={automatic.choiceAdvice}
        checked={automaticRecovery}
        onChange={(event) => set({ automaticRecovery: event.currentTarget.checked })}
      />
      <NumberInput
        label={texts.webhooks.rateLimit}
        description={texts.webhooks.rateLimitAdvice}
        min={1}
        max={MAX_RATE}
        allowDecimal={false}
        value={rateLimit}
        onChange={(value) => set({ rateLimit: value })}
        error={faultOf(error, 'rateLimit')}
        hideControls
      />
    </>
  );
}

/** Returns the server's check of a new address after the person has stopped typing. */
function useUrlCheck(url: string, isNew: boolean): UrlCheck | undefined {
  const { id } = useWorkspace();
  const [typed] = useDebouncedValue(url.trim(), TYPING_PAUSE_MS);
  const check = useQuery({
    queryKey: ['workspaces', id, 'check-url', typed],
    queryFn: () => api.post<UrlCheck>(`/workspaces/${id}/webhook-endpoints/check-url`, { url: typed }),
    enabled: isNew && typed.length > 'https://'.length,
    staleTime: Infinity,
    retry: false,
  });
  return isNew && typed === url.trim() ? check.data : undefined;
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
      <Text size="sm" fw={600}>
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
