import { Button, Card } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { Link, useParams } from '@tanstack/react-router';
import { ApiError } from '../../api/client';
import { useMayManage, useWorkspace } from '../../api/workspace';
import { PageLayout } from '../../common/page';
import { NotFoundPage } from '../../frame/page-states';
import { useTexts } from '../../i18n/locale';
import { ContactDetails } from './contact-details';
import { ContactRights } from './contact-rights';
import classes from './contacts.module.css';
import { useContact } from './use-contact';

export function ContactPage() {
  const { contactId } = useParams({ from: '/inside/w/$slug/contacts/$contactId' });
  const { contacts } = useTexts();
  const { slug } = useWorkspace();
  const mayManage = useMayManage();
  const { data: contact, error } = useContact(contactId);
  if (error instanceof ApiError && error.status === 404) return <NotFoundPage />;
  const back = (
    <Button
      variant="default"
      leftSection={<IconArrowLeft size={16} aria-hidden />}
      renderRoot={(props) => <Link {...props} to="/w/$slug/contacts" params={{ slug }} />}
    >
      {contacts.back}
    </Button>
  );
  return (
    <PageLayout title={contacts.one} actions={back}>
      <Card withBorder p="var(--section-padding)" className={classes.card}>
        <ContactDetails key={contactId} contactId={contactId} />
      </Card>
      {mayManage && contact && (
        <div className={classes.card}>
          <ContactRights contact={contact} />
        </div>
      )}
    </PageLayout>
  );
}
