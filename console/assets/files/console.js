// What makes the pages smooth. Every page works without it.
(() => {
  'use strict';
  const on = addEventListener, root = document.documentElement, lang = root.lang, all = (what, within = document) => [...within.querySelectorAll(what)], one = what => document.querySelector(what);
  root.classList.add('scripted');

  // Times in the zone of who looks; UTC stays on hover. A text without elements has it instead of UTC.
  const dates = how => new Intl.DateTimeFormat(lang, {hourCycle: 'h23', ...how}),
    day = dates({dateStyle: 'short'}), clock = dates({timeStyle: 'medium'}), zoned = dates({timeStyle: 'long'}),
    ago = new Intl.RelativeTimeFormat(lang, {style: 'short'});
  const say = (at, as = clock) => (day.format(at) === day.format() ? '' : day.format(at) + ' ') + as.format(at),
    utc = at => at.toISOString().slice(0, 19).replace('T', ' ') + ' UTC',
    local = text => text.replace(/(\d{4}-\S+) (\S+) UTC/, (_, date, time) => say(new Date(`${date}T${time}Z`), zoned));
  const units = [[2 * 86400, 86400, 'day'], [2 * 3600, 3600, 'hour'], [120, 60, 'minute'], [0, 1, 'second']];

  const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const far = at => {
    const seconds = (at - Date.now()) / 1000, [, size, unit] = units.find(u => Math.abs(seconds) >= u[0]);
    return ago.format(Math.trunc(seconds / size), unit);
  };
  const watched = new MutationObserver(() => tell()), tell = () => {
    watched.disconnect();
    for (const time of all('time')) {
      const at = new Date(time.dateTime);
      if (isNaN(at)) continue;
      put(time, say(at, time.closest('footer') ? zoned : clock));
      const small = time.nextElementSibling;
      if (small?.matches('.ago')) put(small, far(at));
    }
    for (const text of all('.plot title, .says')) put(text, local(text.textContent));
    for (const link of all('.heat a')) link.title = local(link.title);
    watched.observe(document.body, {childList: true, subtree: true, characterData: true});
  };
  tell();

  // The page lives: what was typed into stays as it is, and the foot says as of when it is.
  const touched = e => {
    const form = e.target.closest?.('main form');
    if (form && e.target.name !== 'row' && e.target.matches('input, select, textarea')) form.classList.add('touched');
  };
  on('input', touched);
  on('focusin', touched);
  const live = one('[hx-sse\\:connect]'), old = one('div.heard'), swapped = 'htmx:sse:after:message';
  let silent = 0;
  on(swapped, () => {
    const now = new Date();
    silent = 0;
    for (const time of all('.heard time')) {
      time.dateTime = now.toISOString();
      time.title = utc(now);
    }
    tell();
  });

  // A stream has a beat every 5 s. After 8 s without one the page says that it is old, and opens the stream anew: a gateway that stands still
  // hangs up on no one.
  on('htmx:sse:after:connection', () => { silent = 0; });
  setInterval(() => {
    if (document.hidden) return;
    tell();
    if (!live) return;
    const stands = ++silent > 8 && live.isConnected;
    old.hidden = !old.classList.toggle('away', stands);
    if (stands) live._htmx?.sse?.reader?.cancel();
  }, 1000);

  // A first try that fails is made again: htmx only comes back to a stream that was open. So is the part of a page
  // without a stream that could not be read.
  live?.addEventListener('over', () => live.remove());
  setInterval(() => {
    const closed = live?.isConnected && !live._htmx?.sse && live;
    for (const failed of [closed, one('[hx-trigger=again]')]) if (failed && !document.hidden) failed.dispatchEvent(new Event('again'));
  }, 3000);

  // A time is typed in the viewer's zone, and shown in UTC too.
  on('input', ({target: {name, value, form}}) => {
    const at = new Date(value);
    if (name !== 'at' || isNaN(at)) return;
    form.elements.offset.value = at.getTimezoneOffset();
    form.querySelector('output').value = `${say(at, zoned)}\xa0= ${utc(at)}`;
  });

  // A forecast that is wider than the window begins with the present hour, also if it comes later than its page.
  const begin = () => all('th[aria-current]').forEach(hour => {
    const wide = hour.closest('.wide');
    wide.begun ??= wide.scrollLeft = hour.offsetLeft - hour.offsetWidth;
  });
  begin();
  on(swapped, begin);

  // What if the limit were another one, or as it is where none is typed: what falls due in a step is spread over it evenly. Dispatches leave
  // timers a tenth of it at least, and send the rest later.
  // Its lateness is said in a unit that is off by a tenth at most. With a limit of 0 there is none to say.
  const long = seconds => {
    const [, size, unit] = units.find(u => seconds >= 5 * u[0]);
    return new Intl.NumberFormat(lang, {style: 'unit', unit, unitDisplay: 'short'}).format(Math.trunc(seconds / size));
  };
  const whatIf = () => {
    const heat = one('.touched ~ .wide .heat'), typed = one('[name=limit]')?.value.trim().replace(/\b(?<!\d{4}),(?=\d{3}\b)/g, '');
    if (!heat) return;
    const {steps, overdue, late, gist, fine, none, said, own} = heat.dataset, {max, min} = Math, by = {}, limit = typed >= 0 && typed || own;
    let waiting = +overdue, unsent = 0, worst = 0;
    for (const step of steps.split(' ')) {
      const [hour, wide, due, items] = step.split(','), before = waiting, sent = min(unsent += +items, limit * .9 * wide), rate = limit - sent / wide;
      unsent -= sent;
      waiting = max(waiting + +due - rate * wide, 0);
      const seconds = +due && Math.trunc(max(before, waiting) / rate);
      if (seconds) worst = max(worst, by[hour] = max(by[hour] ?? 0, seconds));
    }
    all('td', heat).forEach((cell, hour) => {
      const link = cell.firstChild, text = by[hour] < 1 / 0 ? ', ' + late.replace('%s', long(by[hour])) : '';
      if (!link) return;
      cell.classList.toggle('late', hour in by);
      link.title = link.title.split(', ')[0] + text;
      put(link.lastChild, text);
    });
    const told = [(+limit).toLocaleString(lang), Object.keys(by).length, long(worst)];
    put(one('.sentence'), limit === own ? said : (+limit ? worst ? gist : fine : none).replace(/%s/g, () => told.shift()));
  };
  on('input', ({target}) => target.name === 'limit' && whatIf());
  on(swapped, whatIf);

  // What may be typed next is suggested behind what stands there.
  const box = one('#q'), hints = all('#hints option').map(option => [option, option.value]);
  box?.addEventListener('input', () => {
    const before = box.value.slice(0, box.value.lastIndexOf(' ') + 1);
    for (const [option, word] of hints) option.value = before + word;
  });

  // What was done is said once: it was not done again for a user who comes back to the address, or is sent it.
  history.replaceState(0, '', location.href.replace(/(\?)done=[a-z]+&|[?&]done=[a-z]+/, '$1'));

  // Copying works without a secure context as well.
  on('click', e => {
    const button = e.target.closest?.('button[data-copy]');
    if (!button) return;
    getSelection().selectAllChildren(button.parentElement.querySelector('code'));
    document.execCommand('copy');
    button.classList.add('copied');
    setTimeout(() => button.classList.remove('copied'), 2000);
  });

  // The pictures have one cursor, and a drag over them zooms in.
  let begun, dragged, last;
  const hitOf = e => e.target?.closest?.('.plot .hit'), xOf = hit => +hit.getAttribute('x');
  const point = e => {
    const hit = hitOf(e), plots = hit?.closest('.plots'), from = plots?.contains(begun) ? begun : hit;
    for (const other of all('.hit')) {
      const within = plots?.contains(other) && (xOf(other) - xOf(from)) * (xOf(other) - xOf(hit)) <= 0;
      other.classList.toggle('at', !!within);
    }
    for (const says of all('.says')) put(says, hit?.textContent ?? says.dataset.hint);
  };
  on('pointermove', e => point(last = e));
  on(swapped, () => last && point({target: document.elementFromPoint(last.x, last.y)}));
  on('pointerdown', e => { begun = hitOf(e); dragged = false; });
  on('pointercancel', () => { begun = null; });
  on('dragstart', e => { if (e.target.closest?.('.plot a')) e.preventDefault(); });
  on('pointerup', e => {
    const hit = hitOf(e), plots = hit?.closest('.plots');
    dragged = begun && begun !== hit && plots?.contains(begun);
    if (dragged) {
      const {from, to} = plots.dataset, first = Date.parse(from), per = (Date.parse(to) - first) / 1000;
      const ends = [begun, hit].map(xOf).sort((a, b) => a - b), query = new URLSearchParams(location.search);
      const time = x => new Date(Math.round((first + x * per) / 60000) * 60000).toISOString();
      query.set('range', time(ends[0]) + '..' + time(ends[1] + +hit.getAttribute('width')));
      location.assign('?' + query + '#plots');
    }
    begun = null;
  });
  on('click', e => { if (dragged && hitOf(e)) e.preventDefault(); dragged = false; }, true);

  // Keys. None acts by itself: it leads to what has to be pressed or confirmed.
  const help = one('#keys'), here = () => document.activeElement;
  const pages = {o: '', t: 'timers', y: 'types', j: 'jobs', d: 'dispatches', f: 'forecast', e: 'emergency', h: 'health', a: 'audit'};
  const step = by => {
    const list = all('main tbody tr').map(row => row.querySelector('a')).filter(link => link?.checkVisibility());
    const at = list.findIndex(link => link.closest('tr').contains(here()));
    list[Math.max(0, at + by)]?.focus();
  };
  // In a row it is what that row has: what another row has is never meant.
  const lead = (...names) => {
    const row = here().closest('tr'), found = names.flatMap(name => all(`main form[action$="/${name}"], button[value="${name}"]`));
    const form = found.find(one => row?.contains(one)) ?? found.find(one => !one.closest('tr')), more = form?.querySelector('details');
    if (more) more.open = true;
    ((more ?? form)?.querySelector('input:not([type=hidden]), button') ?? form)?.focus();
  };
  const keys = {
    '/': () => one('#q')?.select(),
    j: () => step(1), k: () => step(-1),
    x: () => here().closest?.('tr')?.querySelector('input[type=checkbox]')?.click(),
    r: () => lead('redeliver'), c: () => lead('cancel'), p: () => lead('pause', 'resume'),
    '?': () => help?.showModal(),
  };
  let went = 0;
  on('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || help?.open) return;
    const now = here(), typing = now.matches?.('input:not([type=checkbox], [type=radio]), select, textarea');
    if (e.key === 'Escape') {
      const more = now.closest?.('details[open]');
      if (more) { more.open = false; more.querySelector('summary').focus(); } else if (typing) now.blur(); else if (history.length > 1) history.back();
      return;
    }
    if (typing || root.dataset.keys === 'off') return;
    const go = Date.now() - went < 1500 && pages[e.key];
    went = e.key === 'g' ? Date.now() : 0;
    const link = one(`.tabs a[href="/console/${go}"]`), act = typeof go === 'string' ? () => link?.click() : keys[e.key];
    if (act) { e.preventDefault(); act(); }
  });
})();
