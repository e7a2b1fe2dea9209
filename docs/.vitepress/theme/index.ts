/** The look of the site: the generator's theme with the system's fonts, and a link back to the dashboard. */
import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './style.css'

const dashboard = () => h('a', { class: 'dashboard', href: '/', target: '_self' }, 'Dashboard')

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': dashboard,
      'nav-screen-content-after': dashboard,
    }),
} satisfies Theme
