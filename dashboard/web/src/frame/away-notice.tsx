import { Alert, Box } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api } from '../api/client';
import { useTexts } from '../i18n/locale';

const CHECK_MS = 1_500;

/**
 * Says within 3 seconds that the dashboard's server is gone or can't use its database. Once it is back, the
 * page reads everything again.
 */
export function AwayNotice() {
  const texts = useTexts();
  const queries = useQueryClient();
  const { isError } = useQuery({
    queryKey: ['ready'],
    queryFn: ({ signal }) => api.checkReady(signal),
    retry: false,
    refetchInterval: CHECK_MS,
  });
  const wasAway = useRef(false);
  useEffect(() => {
    if (wasAway.current && !isError)
      void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'ready' });
    wasAway.current = isError;
  }, [isError, queries]);
  if (!isError) return null;
  return (
    <Box pos="fixed" bottom={16} left={16} right={16} maw={480} mx="auto" style={{ zIndex: 400 }}>
      <Alert color="red" variant="filled" title={texts.errors.away} role="alert">
        {texts.errors.awayAdvice}
      </Alert>
    </Box>
  );
}
