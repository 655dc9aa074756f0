import { Button, Text } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import type { Workspace } from '../api/types';
import { MenuButton } from '../common/menu-button';
import { useTexts } from '../i18n/locale';
import { homeOf } from './agent-pages';
import classes from './app-frame.module.css';
import { rememberWorkspace } from './last-workspace';

export function WorkspaceMenu({
  workspaces,
  current,
}: {
  workspaces: Workspace[];
  current: Workspace | undefined;
}) {
  const texts = useTexts();
  const navigate = useNavigate();
  if (workspaces.length === 0) return null;
  if (workspaces.length === 1 && current) {
    return (
      <Text truncate fw={500} className={classes.workspaceName}>
        {current.name}
      </Text>
    );
  }
  const open = (workspace: Workspace) => {
    rememberWorkspace(workspace.slug);
    void navigate({ to: homeOf(workspace), params: { slug: workspace.slug } });
  };
  return (
    <MenuButton
      position="bottom-start"
      width="target"
      button={
        <Button
          className={classes.workspace}
          variant="default"
          fullWidth
          justify="space-between"
          rightSection={<IconSelector size={16} aria-hidden />}
          aria-label={texts.frame.workspaceMenu(current?.name ?? null)}
        >
          <Text span truncate inherit>
            {current?.name ?? texts.frame.chooseWorkspace}
          </Text>
        </Button>
      }
    >
      {(menu) => (
        <>
          {workspaces.map((workspace) => (
            <menu.Item
              key={workspace.id}
              onClick={() => open(workspace)}
              {...(workspace.id === current?.id && {
                'aria-current': 'true',
                rightSection: <IconCheck size={16} aria-hidden />,
              })}
            >
              {workspace.name}
            </menu.Item>
          ))}
        </>
      )}
    </MenuButton>
  );
}
