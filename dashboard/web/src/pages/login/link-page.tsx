import { Alert, Button, type ButtonProps, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createLink, useLocation, useNavigate } from '@tanstack/react-router';
import { type ComponentPropsWithRef, useEffect, useState } from 'react';
import { api, ApiError } from '../../api/client';
import { sessionQuery } from '../../api/session';
import type { AcceptedLink, Link } from '../../api/types';
import { ErrorNotice, faultOf } from '../../common/error-notice';
import { Form } from '../../common/form';
import { PasswordField } from '../../common/password-field';
import { Door } from '../../frame/door';
import { PagePending } from '../../frame/page-states';
import { useTexts } from '../../i18n/locale';

const LinkButton = createLink((props: ButtonProps & ComponentPropsWithRef<'a'>) => (
  <Button component="a" {...props} />
));

/** Token of the link that was opened last. Neither the address nor the history contains it. */
let openedToken = '';

/** Returns the token from the address's fragment, which browsers send to no server, and removes it there. */
function useLinkToken(): string {
  const { hash } = useLocation();
  const navigate = useNavigate();
  useEffect(() => {
    if (hash === '') return;
    openedToken = hash;
    void navigate({ to: '.', hash: '', replace: true });
  }, [hash, navigate]);
  return hash || openedToken;
}

/** Page that a link in a mail opens: accepts an invitation, or sets a new password. */
export function LinkPage() {
  const texts = useTexts();
  const token = useLinkToken();
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: () => api.post<Link>('/links/describe', { token }),
    enabled: token !== '',
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const isOver = link.error instanceof ApiError && [400, 404].includes(link.error.status);
  if (token === '' || isOver) {
    return (
      <Door title={isOver ? texts.links.over : texts.links.openAgain}>
        <Text>{isOver ? texts.links.overAdvice : texts.links.openAgainAdvice}</Text>
        <LinkButton to="/login">{texts.login.backToLogin}</LinkButton>
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
  const [name, setName] = useState(link.agentName ?? '');
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
      openedToken = '';
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
        <LinkButton to="/login" search={{ back: '/welcome' }}>
          {texts.login.logIn}
        </LinkButton>
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
          <PasswordField
            label={texts.links.password}
            description={link.needsLogin ? texts.links.otherPasswordRule : texts.links.passwordRule}
            autoComplete="new-password"
            minLength={12}
            maxLength={200}
            value={password}
            onChange={setPassword}
            error={faultOf(accept.error, 'password')}
          />
        )}
      </Form>
      {accept.error instanceof ApiError && accept.error.status === 404 && (
        <Alert color="yellow">{texts.links.overAdvice}</Alert>
      )}
    </Door>
  );
}
