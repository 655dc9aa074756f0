import { TestService } from './service';

/** Services that a test starts and stops together, those started last first. */
export class StartedServices {
  private readonly started: TestService[] = [];

  async start(...options: Parameters<typeof TestService.create>): Promise<TestService> {
    const service = await TestService.create(...options);
    this.started.push(service);
    return service;
  }

  async stop(): Promise<void> {
    for (const service of this.started.splice(0).reverse()) await service.close();
  }
}
