import { Button, Center } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useEffect } from 'react';
import classes from '../inbox.module.css';

interface MorePages {
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => Promise<unknown>;
}

export function LoadMore({ pages, label }: { pages: MorePages; label: string }) {
  const { ref, entry } = useIntersection();
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = pages;
  const isVisible = entry?.isIntersecting ?? false;
  useEffect(() => {
    if (isVisible && hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [isVisible, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <Center ref={ref} className={classes.more}>
      <Button
        size="xs"
        variant="subtle"
        loading={pages.isFetchingNextPage}
        onClick={() => void fetchNextPage()}
      >
        {label}
      </Button>
    </Center>
  );
}
