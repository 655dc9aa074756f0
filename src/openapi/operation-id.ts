/**
 * Makes an operation's name of its controller and method, a verb and a noun: `listConversations`,
 * `getConversation`, `rollWebhookEndpointSecret` for the method `rollSecret` of `WebhookEndpointsController`.
 */
export function operationIdOf(controller: string, method: string): string {
  const [, verb, rest] = /^([a-z]+)(.*)$/.exec(method)!;
  const things = controller.replace(/Controller$/, '');
  const isOfMany = rest === '' && (verb === 'list' || verb === 'search');
  return verb + (isOfMany ? things : things.replace(/s$/, '')) + rest;
}
