import { InjectQueue } from '@nestjs/bull';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bull';
import { type Target } from '../../queue/target';
import { WakeUpQueue } from '../../queue/wake-up-queue';

export const DELIVERY_QUEUE = 'webhook-endpoints';

@Injectable()
export class DeliveryQueue extends WakeUpQueue {
  constructor(@InjectQueue(DELIVERY_QUEUE) bull: Queue<Target>) {
    super(bull);
  }
}
