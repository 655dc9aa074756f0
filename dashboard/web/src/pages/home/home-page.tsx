import { Card, EmptyState, Group, SimpleGrid, Text } from '@mantine/core';
import { Link, Navigate } from '@tanstack/react-router';
import { useSession } from '../../api/session';
import { PageLayout } from '../../common/page';
import { homeOf } from '../../frame/agent-pages';
import { firstWorkspace } from '../../frame/last-workspace';
import { UnreachablePage } from '../../frame/page-states';
import { useTexts } from '../../i18n/locale';

/** Opens the person's only workspace or the one visited last. Otherwise asks which workspace to open. */
export function HomePage() {
  const texts = useTexts();
  const { workspaces, unreachableWorkspaces } = useSession();
  const first = firstWorkspace(workspaces);
  if (first) return <Navigate to={homeOf(first)} params={{ slug: first.slug }} replace />;
  if (workspaces.length === 0) {
    if (unreachableWorkspaces > 0) return <UnreachablePage />;
    return <EmptyState title={texts.frame.noWorkspace} description={texts.frame.noWorkspaceAdvice} />;
  }
  return (
    <PageLayout title={texts.frame.chooseWorkspace}>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {workspaces.map(({ id, slug, name, role }) => (
          <Card
            key={id}
            withBorder
            renderRoot={(props) => <Link {...props} to={homeOf({ role })} params={{ slug }} />}
          >
            <Group justify="space-between">
              <Text fw={600}>{name}</Text>
              <Text c="dimmed" size="sm">
                {texts.roles[role]}
              </Text>
            </Group>
          </Card>
        ))}
      </SimpleGrid>
    </PageLayout>
  );
}
