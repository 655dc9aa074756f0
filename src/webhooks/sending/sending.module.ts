import { Module } from '@nestjs/common';
import { Config } from '../../config/config';
import { AddressPolicy } from './address-policy';
import { connectionBudget } from './connection-budget';
import { DeliverySender } from './delivery-sender';
import { HostResolver } from './host-resolver';

/** Sends signed requests to permitted addresses, and nowhere else. */
@Module({
  providers: [
    {
      provide: AddressPolicy,
      inject: [Config],
      useFactory: ({ webhookAllowedNetworks, webhookDeniedNetworks }: Config) =>
        new AddressPolicy(webhookAllowedNetworks, webhookDeniedNetworks),
    },
    {
      provide: HostResolver,
      inject: [Config],
      useFactory: ({ webhookDnsServers }: Config) =>
        new HostResolver({ servers: webhookDnsServers.length > 0 ? webhookDnsServers : undefined }),
    },
    {
      provide: DeliverySender,
      inject: [Config, AddressPolicy, HostResolver],
      useFactory: (config: Config, policy: AddressPolicy, resolver: HostResolver) =>
        new DeliverySender({
          policy,
          extraCa: config.webhookExtraCa,
          resolver,
          maxKept: connectionBudget(config).kept,
        }),
    },
  ],
  exports: [AddressPolicy, HostResolver, DeliverySender],
})
export class SendingModule {}
