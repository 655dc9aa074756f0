import { Button, Menu, Text } from '@mantine/core';
import { IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { api } from '../api/client';
import type { Person } from '../api/types';
import { useTexts } from '../i18n/locale';

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
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          px="xs"
          aria-label={`${texts.frame.accountMenu}: ${person.name}`}
          leftSection={<IconUserCircle size={20} stroke={1.6} aria-hidden />}
        >
          <Text span truncate maw={160} visibleFrom="sm" inherit>
            {person.name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{person.email}</Menu.Label>
        <Menu.Item component={Link} to="/account" leftSection={<IconUserCircle size={16} aria-hidden />}>
          {texts.nav.account}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          onClick={() => logOut.mutate()}
          closeMenuOnClick={false}
        >
          {logOut.isError ? texts.frame.logOutFailed : texts.frame.logOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
