import { createServer, Server } from 'node:http';
import { AddressInfo } from 'node:net';
import { stopAtEnd } from '../support/stop-at-end';

/** Address and settings of the widget in the pages. */
export interface EmbeddedWidget {
  /** The service's origin. */
  service: string;
  siteKey: string;
}

interface ShopPage {
  headers?: (widget: EmbeddedWidget) => Record<string, string>;
  htmlAttributes?: string;
  /** HTML before the snippet. */
  head?: string;
  /** Additional attributes of the snippet's `script` tag. */
  scriptAttributes?: string;
  /** Returns another snippet. */
  snippet?: (widget: EmbeddedWidget) => string;
  /** HTML of the page's content instead of the shop's. */
  main?: string;
  hasWidget?: boolean;
}

const NONCE = 'c2hvcA';

/** Returns the policy of a shop that allows the host of the widget alone. */
const strictPolicy = ({ service }: EmbeddedWidget) =>
  `default-src 'none'; script-src ${service}; connect-src ${service}; base-uri 'none'; form-action 'none'; ` +
  'report-uri /violations';

/** Styles of a page that follows the visitor's theme. */
const SHOP_STYLES = `<style>
  :root { color-scheme: light dark; }
  body { margin: 0; background: light-dark(#f4f1ea, #20241f); color: light-dark(#2b2f28, #e6e8e1);
      font: 16px/1.6 system-ui, sans-serif; }
  main { max-width: 20rem; padding: 2rem; }
  h1 { font-weight: 600; }
</style>`;

/**
 * Styles that pages apply to everything in them, the widget included: resets, broken utility classes, zoom
 * hacks.
 */
const HOSTILE_STYLES = `<style>
  * { box-sizing: content-box !important; letter-spacing: .5em !important; text-transform: uppercase !important;
      line-height: 0 !important; animation: none !important; }
  button, textarea, input, form, ul, li, p, h2 { all: unset !important; display: none !important; }
  body > * { all: unset !important; display: none !important; visibility: hidden !important; opacity: 0 !important;
      pointer-events: none !important; position: static !important; transform: scale(0) !important;
      font: 3px fantasy !important; color: transparent !important; direction: rtl !important;
      width: 0 !important; height: 0 !important; overflow: hidden !important; z-index: -1 !important;
      filter: blur(9px) !important; content-visibility: hidden !important; clip-path: circle(0) !important; }
  ::part(launcher), ::part(panel) { display: none !important; }
</style>`;

/**
 * Changes that old libraries, analytics and consent scripts make to a page's built-ins, before and after the
 * widget's script.
 */
const HOSTILE_SCRIPT = `<script>
  // Prototype.js 1.6 and similar libraries: every for-in and JSON.stringify sees these.
  Array.prototype.toJSON = function () { return 'broken'; };
  Object.prototype.extend = function () { return this; };
  Array.prototype.last = function () { return this[this.length - 1]; };
  String.prototype.strip = function () { return ''; };
  Element.prototype.show = function () { this.style.display = ''; };
  // Analytics scripts read a copy of every answer to its end, and add an entry to a queue.
  const realFetch = window.fetch;
  window.fetch = function (...all) {
    return realFetch.apply(this, all).then((answer) => {
      answer.clone().text().then((text) => dataLayer.push(text.length), () => undefined);
      return answer;
    });
  };
  window.dataLayer = [];
  Math.random = () => 0.5;
  // Consent scripts forbid requests to other sites from the page's load on.
  addEventListener('load', () => {
    window.fetch = async (url) => { throw new TypeError('Blocked until you consent: ' + url); };
    window.XMLHttpRequest = function () { throw new TypeError('Blocked until you consent'); };
    navigator.sendBeacon = () => false;
    Promise.prototype.then = ((then) => function (...all) { return then.apply(this, all); })(Promise.prototype.then);
  });
  // Shortcuts: letters go to the search field unless an input has the focus, and Enter, Escape and Tab belong
  // to the shop.
  window.shortcuts = [];
  addEventListener('keydown', (event) => {
    if (/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
    window.shortcuts.push(event.key);
    event.preventDefault();
  });
</script>`;

const PAGES: Record<string, ShopPage> = {
  '/shop': { head: SHOP_STYLES },
  '/without-widget': { hasWidget: false },
  '/strict': { headers: (widget) => ({ 'content-security-policy': strictPolicy(widget) }) },
  '/trusted-types': {
    headers: (widget) => ({
      'content-security-policy': `${strictPolicy(widget)}; require-trusted-types-for 'script'; trusted-types 'none'`,
    }),
  },
  '/nonce': {
    headers: ({ service }) => ({
      'content-security-policy': `default-src 'none'; script-src 'nonce-${NONCE}' 'strict-dynamic'; connect-src ${service}; report-uri /violations`,
    }),
    scriptAttributes: `nonce="${NONCE}"`,
  },
  '/hostile': { head: HOSTILE_STYLES + HOSTILE_SCRIPT },
  '/twice': { snippet: (widget) => snippetOf(widget).repeat(2) },
  '/wrong-key': { snippet: ({ service }) => snippetOf({ service, siteKey: 'x'.repeat(32) }) },
  '/tag-manager': {
    snippet: ({ service, siteKey }) => `<script>
      const script = document.createElement('script');
      script.src = '${service}/widget/v1.js?siteKey=${siteKey}';
      document.head.append(script);
    </script>`,
  },
  '/module': { snippet: (widget) => snippetOf(widget, 'type="module"') },
  '/inline': {
    snippet: ({ service }) => `<script>
      const request = new XMLHttpRequest();
      request.open('GET', '${service}/widget/v1.js', false);
      request.send();
      const script = document.createElement('script');
      script.dataset.siteKey = 'any';
      script.text = request.responseText;
      document.head.append(script);
      document.documentElement.dataset.after = 'here';
    </script>`,
  },
  '/framed': {
    hasWidget: false,
    main: '<iframe src="/shop" style="width:900px;height:600px"></iframe><p style="height:5000px">',
  },
  '/arabic': { htmlAttributes: 'lang="ar" dir="rtl"' },
  '/german': { htmlAttributes: 'lang="de"' },
};

/** Pages of a workspace's site that show the widget, on an origin of their own. */
export class ShopPages {
  /** Violations of a page's content security policy that browsers reported. */
  readonly violations: string[] = [];
  private widget: EmbeddedWidget | null = null;

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  static async start(): Promise<ShopPages> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const pages = new ShopPages(server, (server.address() as AddressInfo).port);
    server.on('request', (request, response) => {
      const { pathname } = new URL(request.url!, pages.origin);
      if (pathname === '/violations') {
        let text = '';
        request.on('data', (chunk) => (text += chunk)).on('end', () => pages.violations.push(text));
        return response.writeHead(204).end();
      }
      const page = PAGES[pathname];
      if (!page || !pages.widget) return response.writeHead(404).end();
      const headers = { 'content-type': 'text/html; charset=utf-8', ...page.headers?.(pages.widget) };
      response.writeHead(200, headers).end(render(page, pages.widget));
    });
    return stopAtEnd(pages, () => pages.stop());
  }

  /**
   * Origin of the pages: another site than the service's, and a secure context, which has locks and random
   * ids.
   */
  get origin(): string {
    return `http://localhost:${this.port}`;
  }

  /** Origin of the pages over plain http, where browsers refuse locks and other features. */
  get insecureOrigin(): string {
    return `http://shop.test:${this.port}`;
  }

  show(widget: EmbeddedWidget): void {
    this.widget = widget;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function snippetOf({ service, siteKey }: EmbeddedWidget, attributes = ''): string {
  return `<script async src="${service}/widget/v1.js" data-site-key="${siteKey}" ${attributes}></script>`;
}

const SHOP = `<h1>Tea shop</h1>
<p><label>Search <input type="search"></label> <button type="button">Find</button></p>
<p>Green tea, 100 g. Picked by hand in spring, and dried on the same day.</p>`;

function render(
  { head = '', htmlAttributes = 'lang="en"', hasWidget = true, main = SHOP, ...page }: ShopPage,
  widget: EmbeddedWidget,
): string {
  const snippet = page.snippet?.(widget) ?? snippetOf(widget, page.scriptAttributes);
  return `<!doctype html>
<html ${htmlAttributes}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tea shop</title>
${head}${hasWidget ? snippet : ''}
</head>
<body>
<main>
${main}
</main>
</body>
</html>`;
}
