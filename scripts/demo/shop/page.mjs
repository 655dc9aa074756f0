// The shop's own script: all that the page does with the widget.
const { visitor } = document.body.dataset;
const chat = (window.chatWidget ||= []);

chat.push(['set', { title: 'Harbour Coffee', welcome: 'Hello! Ask us anything about our coffee.' }]);
if (visitor) chat.push(['identify', { jwt: visitor }]);
else if (location.search === '?signed-out') chat.push(['logout']);

document.querySelector('.ask')?.addEventListener('click', () => window.chatWidget?.push(['open']));
