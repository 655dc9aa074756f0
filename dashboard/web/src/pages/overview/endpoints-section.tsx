import { Anchor, Button, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ManagedFirstPage } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import rowList from '../../common/row-list.module.css';
import { Section } from '../../common/section';
import { useTexts } from '../../i18n/locale';
import { EndpointState } from '../webhooks/endpoint-state';

/**
 * Largest number of endpoints in the list. Endpoints that the server deactivated come first, then failing
 * ones.
 */
const MAX_SHOWN = 5;

export function EndpointsSection({ endpoints }: { endpoints: ManagedFirstPage['endpoints'] }) {
  const texts = useTexts();
  const { slug } = useWorkspace();
  const stopped = endpoints.filter(({ deactivation }) => deactivation);
  const failing = endpoints.filter(({ active, failingSince }) => active && failingSince);
  const shown = [...new Set([...stopped, ...failing, ...endpoints])].slice(0, MAX_SHOWN);
  return (
    <Section
      title={texts.webhooks.title}
      actions={
        <Button
          component={Link}
          to={`/w/${encodeURIComponent(slug)}/settings/webhooks`}
          variant="default"
          size="compact-sm"
        >
          {texts.overview.all}
        </Button>
      }
    >
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          {texts.webhooks.none}
        </Text>
      ) : (
        <ul className={rowList.rows}>
          {shown.map((endpoint) => (
            <li key={endpoint.id}>
              <Anchor
                size="sm"
                fw={500}
                flex={1}
                truncate
                renderRoot={(props) => (
                  <Link
                    {...props}
                    to="/w/$slug/settings/webhooks/$endpointId"
                    params={{ slug, endpointId: endpoint.id }}
                  />
                )}
              >
                {endpoint.name ?? endpoint.url.replace('https://', '')}
              </Anchor>
              <EndpointState endpoint={{ ...endpoint, previousSecretEndsAt: null }} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
