import { Button, Text } from '@mantine/core';
import { IconLogout, IconSelector, IconUserCircle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { api } from '../api/client';
import type { Person } from '../api/types';
import { MenuButton } from '../common/menu-button';
import { useTexts } from '../i18n/locale';
import classes from './app-frame.module.css';

export function AccountMenu({ person }: { person: Person }) {
  const texts = useTexts();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const logOut = useMutation({
    mutationFn: () => api.post('/logout'),
    onSuccess: async () => {
      await navigate({ to: '/login' });
      queries.clear();
    },
  });
  return (
    <MenuButton
      position="top-start"
      width="target"
      button={
        <Button
          className={classes.person}
          variant="subtle"
          fullWidth
          aria-label={`${texts.frame.accountMenu}: ${person.name}`}
          leftSection={
            <span className={classes.initials} data-initials={initialsOf(person.name)} aria-hidden />
          }
          rightSection={<IconSelector size={16} aria-hidden />}
        >
          <Text span truncate inherit>
            {person.name}
          </Text>
        </Button>
      }
    >
      {(menu) => (
        <>
          <menu.Label className="breakable">{person.email}</menu.Label>
          <menu.Item component={Link} to="/account" leftSection={<IconUserCircle size={16} aria-hidden />}>
            {texts.nav.account}
          </menu.Item>
          <menu.Item
            leftSection={<IconLogout size={16} aria-hidden />}
            onClick={() => logOut.mutate()}
            closeMenuOnClick={false}
          >
            {logOut.isError ? texts.frame.logOutFailed : texts.frame.logOut}
          </menu.Item>
        </>
      )}
    </MenuButton>
  );
}

function initialsOf(name: string): string {
  const names = name.trim().split(/\s+/);
  return [...new Set([names[0], names.at(-1)])].map((one) => one?.[0]?.toUpperCase() ?? '').join('');
}
