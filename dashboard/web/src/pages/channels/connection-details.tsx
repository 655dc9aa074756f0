import { Anchor, Button, DataList, Group, Stack } from '@mantine/core';
import { useSession } from '../../api/session';
import type { ChannelConnection } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { CopyBlock, CopyText } from '../../common/copying';
import { Moment } from '../../common/moment';
import { useFormats, useTexts } from '../../i18n/locale';

/** Returns the origins of the pages that may show a widget; empty for other channels. */
export function originsOf(connection: ChannelConnection | undefined): string[] {
  const settings: { allowedOrigins?: string[] } | undefined = connection?.settings;
  return settings?.allowedOrigins ?? [];
}

/** Reports whether a widget's visitors and agents see whether the other side is online or types. */
export function showsPresence(connection: ChannelConnection | undefined): boolean {
  const settings: { showsPresence?: boolean } | undefined = connection?.settings;
  return settings?.showsPresence ?? true;
}

export function ConnectionDetails({ connection }: { connection: ChannelConnection }) {
  const texts = useTexts();
  const formats = useFormats();
  const { channel, externalId, hookUrl, credentialsExpireAt, lastReceivedAt, createdAt } = connection;
  const isWidget = channel === 'WIDGET';
  return (
    <Stack>
      <DataList labelWidth="8rem">
        <DataList.Item>
          <DataList.ItemLabel>
            {isWidget ? texts.channels.origins : texts.channels.account}
          </DataList.ItemLabel>
          <DataList.ItemValue className="breakable">
            {isWidget ? formats.list(originsOf(connection)) : externalId}
          </DataList.ItemValue>
        </DataList.Item>
        {!isWidget && (
          <DataList.Item>
            <DataList.ItemLabel>{texts.channels.hook}</DataList.ItemLabel>
            <DataList.ItemValue>
              <CopyText value={hookUrl} name={texts.channels.hook} />
            </DataList.ItemValue>
          </DataList.Item>
        )}
        <DataList.Item>
          <DataList.ItemLabel>{texts.channels.connectedSince}</DataList.ItemLabel>
          <DataList.ItemValue>
            <Moment at={createdAt} />
          </DataList.ItemValue>
        </DataList.Item>
        <DataList.Item>
          <DataList.ItemLabel>{texts.channels.lastReceived}</DataList.ItemLabel>
          <DataList.ItemValue>
            <Moment at={lastReceivedAt} none={texts.common.never} />
          </DataList.ItemValue>
        </DataList.Item>
        {credentialsExpireAt && (
          <DataList.Item>
            <DataList.ItemLabel>{texts.channels.credentialsExpire}</DataList.ItemLabel>
            <DataList.ItemValue>
              <Moment at={credentialsExpireAt} mayBeAhead />
            </DataList.ItemValue>
          </DataList.Item>
        )}
      </DataList>
      {isWidget && <WidgetUse connection={connection} />}
    </Stack>
  );
}

function WidgetUse({ connection }: { connection: ChannelConnection }) {
  const texts = useTexts();
  const { publicUrl } = useSession();
  const { id: workspaceId } = useWorkspace();
  const { id, snippet } = connection;
  return (
    <Stack>
      {snippet && <CopyBlock label={texts.channels.snippet} value={snippet} wrap />}
      <Group>
        <Button
          component="a"
          variant="default"
          href={`/widget-preview/${workspaceId}/${id}`}
          target="_blank"
          rel="noopener"
        >
          {texts.channels.preview}
        </Button>
      </Group>
      <Anchor size="sm" href={`${publicUrl}/docs`} target="_blank" rel="noopener" underline="always">
        {texts.channels.protocol}
      </Anchor>
    </Stack>
  );
}
