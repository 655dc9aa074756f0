import { Badge, DataList, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { WorkspaceOverview } from '../../api/types';
import { Moment } from '../../common/moment';
import { Section } from '../../common/section';
import { useFormats, useTexts } from '../../i18n/locale';

export function PlanSection({ overview }: { overview: WorkspaceOverview }) {
  const texts = useTexts();
  const formats = useFormats();
  const { planTier, trialEndsAt, isTrialExpired, entitlements, counts } = overview;
  const facts: [string, ReactNode][] = [
    [
      texts.plan.tier,
      <Group gap="xs" key="tier">
        <Badge>{texts.plan.tiers[planTier]}</Badge>
        {planTier === 'TRIAL' && trialEndsAt && (
          <Text span size="sm">
            {isTrialExpired ? texts.plan.ended : texts.plan.ends} <Moment at={trialEndsAt} mayBeAhead />
          </Text>
        )}
      </Group>,
    ],
    [
      texts.plan.has,
      formats.list([
        texts.plan.agents(counts.agents),
        ...('apiKeys' in counts
          ? [
              texts.plan.apiKeys(counts.apiKeys),
              texts.plan.endpoints(counts.webhookEndpoints),
              texts.plan.channels(counts.channels),
            ]
          : []),
      ]),
    ],
    [
      texts.plan.entitlements,
      entitlements.length > 0
        ? formats.list(entitlements.map((entitlement) => texts.plan.entitlement[entitlement]))
        : texts.plan.noEntitlements,
    ],
  ];
  return (
    <Section title={texts.plan.title} about={planTier === 'TRIAL' ? texts.plan.upgrade : undefined}>
      <DataList labelWidth="9rem">
        {facts.map(([label, value]) => (
          <DataList.Item key={label}>
            <DataList.ItemLabel>{label}</DataList.ItemLabel>
            <DataList.ItemValue>{value}</DataList.ItemValue>
          </DataList.Item>
        ))}
      </DataList>
    </Section>
  );
}
