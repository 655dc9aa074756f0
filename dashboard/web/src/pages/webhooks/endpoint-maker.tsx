import { Text } from '@mantine/core';
import type { Agent, ApiKey, EndpointMaker, Page } from '../../api/types';
import { useRead } from '../../api/workspace';
import { useTexts } from '../../i18n/locale';

/** Says who created an endpoint, and which other person or API key set its address last, if any. */
export function EndpointMakers({
  endpoint: { madeBy, urlSetBy },
}: {
  endpoint: { madeBy: EndpointMaker | null; urlSetBy: EndpointMaker | null };
}) {
  const texts = useTexts();
  const nameOf = useMakerName();
  const isSame = madeBy?.id === urlSetBy?.id && madeBy?.type === urlSetBy?.type;
  return (
    <>
      <Text size="sm" component="span" display="block" className="breakable">
        {nameOf(madeBy)}
      </Text>
      {!isSame && (
        <Text size="xs" c="dimmed" component="span" display="block" className="breakable">
          {texts.webhooks.urlSetBy(nameOf(urlSetBy))}
        </Text>
      )}
    </>
  );
}

function useMakerName(): (maker: EndpointMaker | null) => string {
  const texts = useTexts();
  const agents = useRead<{ data: Agent[] }>('agents', {}, { refreshMs: false });
  const keys = useRead<Page<ApiKey>>('api-keys', {}, { refreshMs: false });
  return (maker) => {
    if (!maker) return texts.webhooks.unknownMaker;
    const { type, id } = maker;
    if (type === 'operator') return texts.webhooks.byOperator;
    if (type === 'system') return texts.webhooks.bySystem;
    if (type === 'api_key')
      return texts.webhooks.byKey(keys.data?.data.find((key) => key.id === id)?.name ?? '…');
    const agent = agents.data?.data.find((one) => one.id === id);
    return agent?.isErased ? texts.agents.erasedName : (agent?.name ?? '…');
  };
}
