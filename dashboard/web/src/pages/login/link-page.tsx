import { Alert, Button, PasswordInput, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link as RouterLink, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, ApiError } from '../../api/client';
import { sessionQuery } from '../../api/session';
import type { AcceptedLink, Link } from '../../api/types';
import { ErrorNotice, faultOf } from '../../common/error-notice';
import { Form } from '../../common/dialogs';
import { Door } from '../../frame/door';
import { PagePending } from '../../frame/page-states';
import { useTexts } from '../../i18n/locale';

/**
 * Page of an invitation, and of a link to set a new password. The token is in the address's fragment, so that
 * no log has it.
 */
export function LinkPage() {
  const texts = useTexts();
  const [token] = useState(() => location.hash.slice(1));
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: () => api.post<Link>('/links/describe', { token }),
    enabled: token !== '',
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const isOver = token === '' || (link.error instanceof ApiError && [400, 404].includes(link.error.status));
  if (isOver) {
    return (
      <Door title={texts.links.over}>
        <Text>{texts.links.overAdvice}</Text>
        <Button component={RouterLink} to="/login">
          {texts.login.backToLogin}
        </Button>
      </Door>
    );
  }
  if (link.error) {
    return (
      <Door title={texts.links.title}>
        <ErrorNotice error={link.error} onRetry={() => void link.refetch()} />
      </Door>
    );
  }
  return link.data ? <AcceptLink token={token} link={link.data} /> : <PagePending />;
}

function AcceptLink({ token, link }: { token: string; link: Link }) {
  const texts = useTexts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const isInvitation = link.kind === 'invitation';
  const isNew = isInvitation && !link.needsLogin;
  const accept = useMutation({
    mutationFn: () =>
      api.post<AcceptedLink>('/links/accept', {
        token,
        ...(isNew && name.trim() && { name: name.trim() }),
        ...(link.needsPassword && { password }),
      }),
    onSuccess: ({ status }) => {
      queries.clear();
      return navigate({ to: status === 'done' ? '/' : '/login' });
    },
  });
  const session = useQuery({ ...sessionQuery, enabled: link.needsLogin, retry: false });
  if (link.needsLogin && session.isPending) return <PagePending />;
  if (link.needsLogin && session.data?.person.email !== link.email) {
    return (
      <Door title={texts.links.invitedTo(link.workspaceName ?? '')}>
        <Text>{texts.links.logInFirst(link.email)}</Text>
        {/* The way back is not in the address, which would be sent and logged. */}
        <Button component={RouterLink} to="/login" state={{ back: `/welcome#${token}` }}>
          {texts.login.logIn}
        </Button>
      </Door>
    );
  }
  return (
    <Door title={isInvitation ? texts.links.invitedTo(link.workspaceName ?? '') : texts.links.newPassword}>
      <Text size="sm">{isInvitation ? texts.links.invitationAdvice : texts.links.resetAdvice}</Text>
      <Form
        action={isInvitation ? texts.links.accept : texts.links.setPassword}
        isPending={accept.isPending}
        error={accept.error}
        onSubmit={() => accept.mutate()}
      >
        <TextInput label={texts.login.email} value={link.email} readOnly autoComplete="username" />
        {isNew && (
          <TextInput
            label={texts.links.name}
            autoComplete="name"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={faultOf(accept.error, 'name')}
          />
        )}
        {link.needsPassword && (
          <PasswordInput
            label={texts.links.password}
            description={link.needsLogin ? texts.links.otherPasswordRule : texts.links.passwordRule}
            autoComplete="new-password"
            required
            minLength={12}
            maxLength={200}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={faultOf(accept.error, 'password')}
            visibilityToggleButtonProps={{ 'aria-label': texts.login.showPassword, tabIndex: 0 }}
          />
        )}
      </Form>
      {accept.error instanceof ApiError && accept.error.status === 404 && (
        <Alert color="yellow">{texts.links.overAdvice}</Alert>
      )}
    </Door>
  );
}
