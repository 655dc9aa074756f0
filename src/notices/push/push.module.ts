import { Module } from '@nestjs/common';
import { TableRegistry } from '../../database/tables/table-registry';
import { RateLimitModule } from '../../http/limits/rate-limit.module';
import { LoginsModule } from '../../logins/logins.module';
import { PeopleService } from '../../logins/people.service';
import { MetricsModule } from '../../metrics/metrics.module';
import { KeyRotationService } from '../../secrets/key-rotation.service';
import { SecretsModule } from '../../secrets/secrets.module';
import { PushAddressesRepository } from './push-addresses.repository';
import { PushAddressesService } from './push-addresses.service';
import { PushSender } from './push-sender';
import { PushServices } from './push-services';
import { PUSH_TABLES } from './push-tables';

/** Pushes notices to the browsers of agents. */
@Module({
  imports: [LoginsModule, MetricsModule, RateLimitModule, SecretsModule],
  providers: [PushAddressesRepository, PushAddressesService, PushSender, PushServices],
  exports: [PushAddressesService, PushSender],
})
export class PushModule {
  constructor(
    tables: TableRegistry,
    keyRotation: KeyRotationService,
    people: PeopleService,
    addresses: PushAddressesRepository,
  ) {
    tables.register(...PUSH_TABLES);
    people.registerExport('pushAddresses', (personId) => addresses.listForExport(personId));
    keyRotation.registerOther((count) => addresses.reencryptStep(count));
  }
}
