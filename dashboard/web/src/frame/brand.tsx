import { Group, Text } from '@mantine/core';
import { useTexts } from '../i18n/locale';
import markUrl from './mark.svg';

export function Brand() {
  const texts = useTexts();
  return (
    <Group gap={10} wrap="nowrap">
      <img src={markUrl} alt="" width={24} height={24} />
      <Text fw={600} fz="md" lts="-0.011em">
        {texts.frame.product}
      </Text>
    </Group>
  );
}
